import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRun, type LoadedRun } from '../../src/config/load.ts';
import type { Json } from '../../src/domain/json.ts';

/** A run file as JSON, checked with everything that Assay brings along. */
export const load = (document: Json, baseDir = process.cwd()): Promise<LoadedRun> =>
  loadRun({
    source: { kind: 'document', value: document, baseDir },
    catalog: createBuiltInCatalog(),
  });
