import { findParamProblems } from '../providers/lookup.ts';
import { toScorerCatalog } from '../scorers/lookup.ts';
import { TOOL_NAMES } from '../tools/lookup.ts';
import type { Catalog } from './catalog.ts';

/** The scorers, tools and providers that come with Assay, as reading run files wants them. */
export const createBuiltInCatalog = (): Catalog => ({
  scorers: toScorerCatalog(),
  tools: new Set(TOOL_NAMES),
  findParamProblems,
});
