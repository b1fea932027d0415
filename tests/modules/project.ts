import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import type { LoadedRun } from '../../src/config/load.ts';
import { ConfigError, type Problem } from '../../src/config/problem.ts';
import type { RunModule } from '../../src/domain/run-module.ts';
import { loadRunFile } from '../../src/modules/load-run-file.ts';

export type Files = { readonly [path: string]: string };

/** A project of its own with files, gone at the end of the test. */
export function makeProject(files: Files): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-project-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

type Options = { readonly path?: string; readonly loadTimeoutMs?: number };

export const loadProject = (
  folder: string,
  { path = 'run.ts', ...options }: Options = {},
): Promise<LoadedRun> =>
  loadRunFile({ path: join(folder, path), catalog: createBuiltInCatalog(), ...options });

/** `file:line path: message` of each problem, the folder's own name left out. */
export async function findModuleProblems(files: Files, options?: Options): Promise<readonly string[]> {
  const folder = makeProject(files);
  try {
    await loadProject(folder, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => toLine(problem, folder));
    throw error;
  }
  return [];
}

const toLine = ({ file, line, path, message }: Problem, folder: string): string =>
  `${file}${line === null ? '' : `:${line}`}${path === '' ? '' : ` ${path}`}: ${message}`
    .replaceAll(`${folder}/`, '')
    .replaceAll(folder, 'PROJECT');

/** The smallest run file, with parts of its own. */
export const runWith = (
  parts: string,
  body = '',
): string => `import { defineProvider, defineRun, defineScorer, defineTool, z } from 'assay';
${body}
export default defineRun({
  models: ['mock:oracle'],
  ${parts}
});
`;

export const SUITE = `suite: { scorers: ['exact'], cases: [{ id: 'one', input: 'Say 1.', target: '1' }] },`;

/** The code of a run file and its bundle, for whoever runs it. */
export async function loadModule(
  files: Files,
): Promise<{ readonly folder: string; readonly module: RunModule; readonly code: Uint8Array }> {
  const folder = makeProject(files);
  const loaded = await loadProject(folder);
  const { module } = loaded.spec;
  const code = loaded.files.get(module?.digest ?? '');
  if (module === undefined || code === undefined) throw new Error('the run has no module');
  return { folder, module, code };
}
