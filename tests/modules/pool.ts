import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ScorerVerdict } from '../../src/domain/score.ts';
import { ModulePool } from '../../src/modules/module-pool.ts';
import { createModuleScorer } from '../../src/modules/module-scorer.ts';
import { createModuleTool } from '../../src/modules/module-tool.ts';
import { runScorer } from '../../src/scorers/guard.ts';
import type { ToolResult } from '../../src/tools/tool.ts';
import { loadModule, runWith, SUITE, type Files } from './project.ts';
import { buildCase } from '../scorers/support.ts';

const NEVER = new AbortController().signal;

/** A module of tools and scorers in a pool of its own; `lines` is what its code printed. */
export async function openModule(body: string, files: Files = {}, projectDir: string | null = null) {
  const { folder, module, code } = await loadModule({ 'run.ts': runWith(SUITE, body), ...files });
  const lines: string[] = [];
  const pool = new ModulePool({
    loadCode: async () => code,
    projectDir,
    onOutput: (_path, line) => lines.push(line),
  });
  onTestFinished(() => pool.stop());
  const use = async (
    name: string,
    args: JsonObject = {},
    options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
  ): Promise<ToolResult> => {
    const tool = module.tools.find(({ schema }) => schema.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const { status, text } = await createModuleTool(pool, module, tool).run(args, {
      session: null,
      idempotencyKey: 'key-1',
      timeoutMs: options.timeoutMs ?? tool.policy.timeoutMs,
      signal: options.signal ?? NEVER,
      about: { context: { tenant: 'acme' }, modelId: 'm', caseId: 'c' },
    });
    return { status, text };
  };
  const judge = async (name: string, answer = 'yes', options: JsonObject = {}): Promise<ScorerVerdict> => {
    const scorer = module.scorers.find((one) => one.name === name);
    if (scorer === undefined) throw new Error(`no scorer ${name}`);
    const input = {
      options,
      threshold: 0.5,
      testCase: TEST_CASE,
      target: { values: ['yes'] },
      answer,
      session: null,
      loadBlob: () => Promise.reject(new Error('no blob')),
      signal: NEVER,
    };
    return await runScorer(createModuleScorer(pool, module, scorer), input, { name, timeoutMs: null });
  };
  return { folder, module, pool, lines, use, judge };
}

const TEST_CASE = buildCase({ id: 'c', input: { kind: 'text', text: 'Well?' } });

/** A tool without arguments. */
export const tool = (name: string, execute: string, more = ''): string =>
  `export const ${name} = defineTool({ name: '${name}', description: 'x', parameters: z.strictObject({}), ${more} execute: ${execute} });`;

export const scorer = (name: string, score: string, more = ''): string =>
  `export const ${name} = defineScorer({ name: '${name}', ${more} score: (${score}) as never });`;
