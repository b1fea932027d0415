import type { Catalog } from '../../src/config/catalog.ts';
import { toScorerCatalog } from '../../src/scorers/lookup.ts';
import { TOOL_NAMES } from '../../src/tools/lookup.ts';

/** What this program really has. */
export const CATALOG: Catalog = { scorers: toScorerCatalog(), tools: new Set(TOOL_NAMES) };
