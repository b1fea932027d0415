import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadRun } from '../../src/config/load.ts';
import type { LoadedRun, LoadRequest } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problem.ts';
import type { Problem } from '../../src/config/problem.ts';
import type { SuiteCase } from '../../src/domain/suite.ts';
import { CATALOG } from './catalog.ts';

export type Files = { readonly [path: string]: string | Uint8Array };

/** Loads `run.yaml` (or another of the files) out of a folder that is gone afterwards. */
export async function loadFiles(
  files: Files,
  request: Partial<Omit<LoadRequest, 'source'>> & { readonly run?: string } = {},
): Promise<LoadedRun> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-config-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const { run = 'run.yaml', ...rest } = request;
    return await loadRun({ source: { kind: 'file', path: join(folder, run) }, catalog: CATALOG, ...rest });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(
      error.problems.map((problem) => ({
        ...problem,
        file: problem.file.replace(`${folder}/`, ''),
        message: problem.message.replaceAll(`${folder}/`, ''),
      })),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The problems of files that cannot be loaded. */
export async function findProblems(...given: Parameters<typeof loadFiles>): Promise<readonly Problem[]> {
  try {
    await loadFiles(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** `file:line:column path` of each. */
export const toPlaces = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ file, line, column, path }) => `${file}:${line}:${column} ${path}`);

export const toMessages = (problems: readonly Problem[]): readonly string[] =>
  problems.map(({ message }) => message);

/** A run of the oracle over one suite. */
export const runOf = (suite: string): string => `models: [mock:oracle]\nsuite: ${suite}\n`;

/** The cases of the only suite of a run. */
export async function loadCases(files: Files): Promise<readonly SuiteCase[]> {
  const { suites } = await loadFiles(files);
  return [...suites.values()][0]?.cases ?? [];
}

/** One suite file in YAML, loaded as the only suite. */
export const loadYamlCases = (suite: string): Promise<readonly SuiteCase[]> =>
  loadCases({ 'run.yaml': runOf('s.yaml'), 's.yaml': suite });

export const findSuiteProblems = (suite: string): Promise<readonly Problem[]> =>
  findProblems({ 'run.yaml': runOf('s.yaml'), 's.yaml': suite });
