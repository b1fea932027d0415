import { createBuiltInCatalog } from '../../../src/config/built-in-catalog.ts';
import { loadRunFile } from '../../../src/modules/load-run-file.ts';
import { ModulePool } from '../../../src/modules/module-pool.ts';

/** Calls the first tool of a run file and stays with it: a worker that is about to be killed. */
const [, , path = ''] = process.argv;
const { spec, files } = await loadRunFile({ path, catalog: createBuiltInCatalog() });
const { module } = spec;
if (module === undefined) throw new Error('no module');
const code = files.get(module.digest) ?? new Uint8Array();
const pool = new ModulePool({ loadCode: async () => code, projectDir: null, onOutput: () => undefined });
await pool.call(
  module,
  {
    kind: 'tool',
    name: module.tools[0]?.schema.name ?? '',
    args: {},
    idempotencyKey: 'key',
    attempt: 1,
    timeoutMs: 60_000,
    context: {},
    modelId: 'm',
    caseId: 'c',
  },
  { timeoutMs: 60_000, signal: new AbortController().signal },
);
