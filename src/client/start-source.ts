import { createBuiltInCatalog } from '../config/built-in-catalog.ts';
import { loadRun, type LoadedRun } from '../config/load.ts';
import type { Selection } from '../config/selection.ts';
import type { Json } from '../domain/json.ts';
import { loadRunFile } from '../modules/load-run-file.ts';
import type { StartOptions } from './assay-client.ts';
import type { AssayConnection } from './connect.ts';
import { findReuse } from './find-reuse.ts';
import { checkRunId } from './run-id.ts';
import { startRun, type StartedRun } from './start-run.ts';

const EVERYTHING: Selection = { cases: [], tags: [], excludeTags: [], limit: null, models: [], requests: [] };

/** Checks a run file or a document of its shape, then starts it. */
export async function startFromSource(
  connection: AssayConnection,
  run: string | { readonly [key: string]: Json },
  options: StartOptions,
): Promise<StartedRun> {
  const runId = options.runId === undefined ? null : checkRunId(options.runId);
  const { reuse: word, allowMismatch = false } = options;
  const loaded = await load(run, options);
  const reuse = word === undefined ? {} : { reuse: await findReuse(connection, { word, allowMismatch }) };
  return await startRun(connection, { loaded, runId, approved: options.approved === true, ...reuse });
}

function load(run: string | { readonly [key: string]: Json }, options: StartOptions): Promise<LoadedRun> {
  const catalog = createBuiltInCatalog();
  const selection = { ...EVERYTHING, ...options.selection };
  if (typeof run === 'string') return loadRunFile({ path: run, selection, catalog });
  const baseDir = options.baseDir ?? process.cwd();
  return loadRun({ source: { kind: 'document', value: run, baseDir }, selection, catalog });
}
