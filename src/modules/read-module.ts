import { readFileSync } from 'node:fs';
import { ConfigError, toProblem } from '../config/problem.ts';
import type { Source } from '../config/source.ts';
import { bundleModule, type BundledModule } from './bundle.ts';
import type { ModuleDescription } from './child-messages.ts';
import { ModuleError } from './module-error.ts';
import { ModuleProcess } from './module-process.ts';
import { createModuleSource } from './module-source.ts';

/** A module that was loaded once, in a process of its own, and what it exports. */
export type DescribedModule = {
  readonly bundle: BundledModule;
  readonly description: ModuleDescription;
  readonly source: Source;
};

export const EXPORT_NAME = 'default';

const MEMORY_MIB = 512;
const LOAD_TIMEOUT_MS = 30_000;

type Wanted = { readonly wanted: 'run' | 'config'; readonly loadTimeoutMs?: number };

const HOW: { readonly [Kind in 'run' | 'config']: string } = {
  run: 'export default defineRun({ ... })',
  config: 'export default defineConfig({ ... })',
};

/**
 * Bundles a module and reads its default export. Its code runs in a process of its own with a time and a memory
 * limit. Throws `ConfigError` with everything that is wrong with it.
 */
export async function readModule(
  file: string,
  { wanted, loadTimeoutMs = LOAD_TIMEOUT_MS }: Wanted,
): Promise<DescribedModule> {
  const bundle = await bundleModule(file);
  const text = readFileSync(file, 'utf8');
  const written = createModuleSource({ file, text, value: null });
  const description = await describe(bundle, written, loadTimeoutMs);
  const source = createModuleSource({ file, text, value: description.value });
  const { kind, problems } = description;
  if (kind !== wanted) {
    throw new ConfigError([toProblem(source, { path: [], message: explainKind(kind, wanted) })]);
  }
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => toProblem(source, problem)));
  return { bundle, description, source };
}

function explainKind(kind: string | null, wanted: 'run' | 'config'): string {
  if (kind === null) return `it has no default export: write ${HOW[wanted]}`;
  const other = kind === 'run' || kind === 'config' ? `is a ${kind} file` : 'is something else';
  return `its default export ${other}: write ${HOW[wanted]}`;
}

async function describe(
  bundle: BundledModule,
  source: Source,
  loadTimeoutMs: number,
): Promise<ModuleDescription> {
  try {
    const process = await ModuleProcess.start(
      { ...bundle, exportName: EXPORT_NAME },
      {
        memoryMiB: MEMORY_MIB,
        loadTimeoutMs,
        describe: true,
        onOutput: () => undefined,
      },
    );
    await process.end();
    if (process.description === null) throw new ModuleError('its process described nothing');
    return process.description;
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    const message = `it cannot be loaded: ${error.message}`;
    const line = toLine(error, source.file);
    throw new ConfigError([toProblem({ ...source, locate: () => line }, { path: [], message })]);
  }
}

/** The line of the run file that the error's first frame names. */
function toLine({ facts }: ModuleError, file: string): { line: number; column: number } | null {
  const name = file.split(/[\\/]/).at(-1) ?? file;
  for (const frame of facts?.frames ?? []) {
    const [, at, line, column] = /([^\s(]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    if (at === name) return { line: Number(line), column: Number(column) };
  }
  return null;
}
