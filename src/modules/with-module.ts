import type { Catalog, ScorerInCatalog } from '../config/catalog.ts';
import type { RunModule } from '../domain/run-module.ts';
import { listParamProblems } from '../providers/params.ts';
import { toParamsSchema } from './module-provider.ts';
import { toOptionsSchema } from './options-schema.ts';

const PLUG_IN = { needsAddress: false, needsOutputLimit: false };

/** A catalog with the tools, scorers and providers that a module brings along. */
export const withModule = (catalog: Catalog, module: RunModule | undefined): Catalog =>
  module === undefined ? catalog : addModule(catalog, module);

const addModule = (catalog: Catalog, { tools, scorers, providers }: RunModule): Catalog => ({
  ...catalog,
  providers: new Map([
    ...catalog.providers,
    ...providers.map(({ kind, baseUrl, apiKeyEnv }) => [kind, { ...PLUG_IN, baseUrl, apiKeyEnv }] as const),
  ]),
  findParamProblems: (model) => {
    const own = providers.find(({ kind }) => kind === model.kind);
    if (own === undefined) return catalog.findParamProblems(model);
    return own.params === null ? [] : listParamProblems(toParamsSchema(own.params), model.params);
  },
  moduleTools: new Set(tools.map(({ schema }) => schema.name)),
  policies: new Map([
    ...(catalog.policies ?? []),
    ...tools.map(({ schema, policy }) => [schema.name, policy] as const),
  ]),
  scorers: new Map<string, ScorerInCatalog>([
    ...catalog.scorers,
    ...scorers.map(
      (scorer) =>
        [
          scorer.name,
          {
            options: toOptionsSchema(scorer),
            needsTarget: () => scorer.needsTarget,
            place: 'process' as const,
          },
        ] as const,
    ),
  ]),
});
