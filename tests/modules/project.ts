import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import type { LoadedRun } from '../../src/config/load.ts';
import { ConfigError, type Problem } from '../../src/config/problem.ts';
import { loadRunFile } from '../../src/modules/load-run-file.ts';

/** A project of its own with files, gone at the end of the test. */
export function makeProject(files: { readonly [path: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-project-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export const loadProject = (folder: string, path = 'run.ts'): Promise<LoadedRun> =>
  loadRunFile({ path: join(folder, path), catalog: createBuiltInCatalog() });

/** `file:line path: message` of each problem, the folder's own name left out. */
export async function findModuleProblems(folder: string, path = 'run.ts'): Promise<readonly string[]> {
  try {
    await loadProject(folder, path);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => toLine(problem, folder));
    throw error;
  }
  return [];
}

const toLine = ({ file, line, path, message }: Problem, folder: string): string =>
  `${file}${line === null ? '' : `:${line}`}${path === '' ? '' : ` ${path}`}: ${message}`.replaceAll(
    `${folder}/`,
    '',
  );

/** A run file with one scripted agent; `body` stands above it. */
export const agentRun = (body: string, parts: { readonly tools: string; readonly steps: string }): string => `
import { defineRun, defineScorer, defineTool, z } from 'assay';
${body}
export default defineRun({
  models: [{ id: 'agent', provider: 'mock', model: 'script',
    params: { script: { cases: {}, default: { good: ${parts.steps}, bad: [] } } } }],
  harness: { kind: 'agent', tools: [${parts.tools}] },
  suite: { scorers: ['includes'], cases: [{ id: 'one', input: 'Go.', target: 'done' }] },
});
`;
