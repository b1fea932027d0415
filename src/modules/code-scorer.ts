import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { RunModule } from '../domain/run-module.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import type { CodeToRun, ScoreInput } from '../scorers/scorer.ts';
import { unscored } from '../scorers/verdict.ts';
import type { ModulePool } from './module-pool.ts';
import { scoreInModule } from './module-scorer.ts';

/** Runs the function of a `javascript` scorer in a process of the pool. */
export const createCodeRunner =
  (pool: ModulePool, projectDir: string | null) =>
  async (code: CodeToRun, input: ScoreInput): Promise<ScorerVerdict> => {
    const built = await build(code);
    if (built.kind === 'failed') return unscored('bad_code', built.message);
    const module: RunModule = {
      digest: createHash('sha256').update(built.code).digest('hex'),
      code: built.code,
      exportName: 'default',
      path: code.fileName,
      projectDir: projectDir ?? tmpdir(),
      tools: [],
      scorers: [],
      providers: [],
    };
    const scorer = { name: 'default', timeoutMs: code.timeoutMs };
    return await scoreInModule({ pool, module, scorer }, input);
  };

type Built =
  | { readonly kind: 'built'; readonly code: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Types stripped; syntax is checked on the way. */
async function build({ code, fileName }: CodeToRun): Promise<Built> {
  const { transform } = await import('esbuild');
  try {
    const built = await transform(code, {
      loader: 'ts',
      format: 'esm',
      target: 'node24',
      sourcefile: fileName,
      sourcemap: 'inline',
      logLevel: 'silent',
    });
    return { kind: 'built', code: built.code };
  } catch (error) {
    return { kind: 'failed', message: `"${fileName}" cannot be read: ${String(error).slice(0, 500)}` };
  }
}
