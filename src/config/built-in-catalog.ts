import { loadPresets, toPrompt } from '../harnesses/lookup.ts';
import { findKnownModel } from '../providers/find-price.ts';
import { createProviderLookup } from '../providers/lookup.ts';
import type { ProviderLookup } from '../providers/lookup.ts';
import { toScorerCatalog } from '../scorers/lookup.ts';
import { toToolPolicy } from '../domain/tool-policy.ts';
import { findTool, FREE_TOOL_NAMES, TOOL_NAMES } from '../tools/lookup.ts';
import type { Catalog } from './catalog.ts';

/** The scorers, tools and providers that come with Assay, as reading run files wants them; or a program's own. */
export const createBuiltInCatalog = (providers: ProviderLookup = createProviderLookup()): Catalog => ({
  scorers: toScorerCatalog(),
  tools: new Set(TOOL_NAMES),
  freeTools: new Set(FREE_TOOL_NAMES),
  policies: new Map(TOOL_NAMES.map((name) => [name, findTool(name)?.policy ?? toToolPolicy({})])),
  presets: loadPresets(),
  toPrompt,
  providers: providers.kinds,
  findKnownModel,
  findParamProblems: (model) => providers.findParamProblems(model),
});
