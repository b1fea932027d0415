import { loadRun, type LoadedRun } from '../../src/config/load.ts';
import type { Json } from '../../src/domain/json.ts';
import { toScorerCatalog } from '../../src/scorers/lookup.ts';
import { TOOL_NAMES } from '../../src/tools/lookup.ts';

/** A run file as JSON, checked with everything that Assay brings along. */
export const load = (document: Json, baseDir = process.cwd()): Promise<LoadedRun> =>
  loadRun({
    source: { kind: 'document', value: document, baseDir },
    catalog: { scorers: toScorerCatalog(), tools: new Set(TOOL_NAMES) },
  });
