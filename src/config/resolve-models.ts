import type { ModelSpec, ProviderSpec } from '../domain/run.ts';
import type { Price } from '../domain/usage.ts';
import type { Catalog, Gathered } from './catalog.ts';
import { inlineMockFiles } from './mock-files.ts';
import { findNearest } from './nearest.ts';
import { toProblem } from './problem.ts';
import type { Finding, Path } from './problem.ts';
import { providerSchema } from './run-file.ts';
import type { ModelEntry, ProviderEntry } from './run-file.ts';
import { within } from './source.ts';
import type { Source } from './source.ts';

/** An entry with its place. */
export type Placed<Entry> = { readonly entry: Entry; readonly path: Path };

/** An entry with its index in the file's list. */
export type Listed<Entry> = { readonly index: number; readonly entry: Entry };

type Place = { readonly source: Source; readonly gathered: Gathered };

/** Providers as declared; wrong ones are left out and reported. */
export function resolveProviders(
  listed: readonly Listed<ProviderEntry>[],
  place: Place,
): readonly ProviderSpec[] {
  const specs: ProviderSpec[] = [];
  for (const { index, entry } of listed) {
    const report = reporter(within(place.source, [index]), place.gathered);
    if (specs.some(({ id }) => id === entry.id)) {
      report({ path: ['id'], message: `two providers have the id "${entry.id}"` });
      continue;
    }
    const spec = resolveProvider(entry, place.gathered.catalog, report);
    if (spec !== null) specs.push(spec);
  }
  return specs;
}

type Report = (finding: Finding) => null;

const reporter =
  (source: Source, gathered: Gathered): Report =>
  (finding) => {
    gathered.problems.push(toProblem(source, finding));
    return null;
  };

function resolveProvider(entry: ProviderEntry, catalog: Catalog, report: Report): ProviderSpec | null {
  const { id, kind, baseUrl } = entry;
  const defaults = catalog.providers.get(kind);
  if (defaults === undefined) {
    const kinds = [...catalog.providers.keys()];
    const message = `unknown provider kind "${kind}"; known: ${kinds.join(', ')}`;
    return report({ path: ['kind'], message, got: kind, suggestion: findNearest(kind, kinds) });
  }
  if (defaults.needsAddress && baseUrl === undefined) {
    return report({
      path: [],
      message: `"baseUrl" is missing: provider "${id}" needs the address of its API`,
    });
  }
  if (baseUrl?.includes('${')) {
    const message = `"${baseUrl}": \${...} is not expanded here; write the address itself`;
    return report({ path: ['baseUrl'], message });
  }
  if (baseUrl !== undefined && !isHttpAddress(baseUrl)) {
    const message = `expected an address that begins with http:// or https://, got "${baseUrl}"`;
    return report({ path: ['baseUrl'], message, expected: 'an http or https address', got: baseUrl });
  }
  return {
    id,
    kind,
    baseUrl: baseUrl ?? defaults.baseUrl,
    apiKeyEnv: entry.apiKeyEnv === undefined ? defaults.apiKeyEnv : entry.apiKeyEnv,
    concurrency: entry.limits.concurrency,
    requestsPerMinute: entry.limits.requestsPerMinute ?? null,
    tokensPerMinute: entry.limits.tokensPerMinute ?? null,
    retry: { max: entry.retry.max, baseMs: entry.retry.base },
    stream: entry.stream,
    timeouts: {
      connectMs: entry.timeouts.connect,
      firstByteMs: entry.timeouts.firstByte,
      idleMs: entry.timeouts.idle,
    },
  };
}

const isHttpAddress = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text);

/** A provider for every kind that needs nothing said, under the name of its kind, unless the file takes the name. */
const listUndeclared = ({ gathered, declaredIds }: ModelsPlace): ProviderSpec[] =>
  [...gathered.catalog.providers].flatMap(([kind, defaults]) => {
    if (defaults.needsAddress || declaredIds.includes(kind)) return [];
    const spec = resolveProvider(providerSchema.parse({ id: kind, kind }), gathered.catalog, () => null);
    return spec === null ? [] : [spec];
  });

const FREE: Price = { input: 0, output: 0, cacheRead: null, cacheWrite: null };

export type ResolvedModels = {
  readonly models: readonly ModelSpec[];
  /** Declared ones and the built-in ones that models use. */
  readonly providers: readonly ProviderSpec[];
};

export type ModelsPlace = Place & {
  readonly baseDir: string;
  readonly providers: readonly ProviderSpec[];
  /** Ids that the file declares, wrong ones included: they are known, only not usable. */
  readonly declaredIds: readonly string[];
  /** A budget reserves the longest answer, so that a cap is always sent. */
  readonly hasBudget: boolean;
};

/** Models as declared, short forms spelled out, mock files read in. */
export function resolveModels(listed: readonly Placed<ModelEntry>[], place: ModelsPlace): ResolvedModels {
  const models: ModelSpec[] = [];
  const used = new Set<string>();
  const builtIn = listUndeclared(place);
  const providers = [...place.providers, ...builtIn];
  for (const { path: at, entry } of listed) {
    const source = within(place.source, at);
    const spec = resolveModel(entry, { ...place, source, providers });
    if (spec === null) continue;
    if (models.some(({ id }) => id === spec.id)) {
      const path = typeof entry !== 'string' && entry.id !== undefined ? ['id'] : [];
      const message = `two models have the id "${spec.id}": give one of them an "id" of its own`;
      reporter(source, place.gathered)({ path, message });
      continue;
    }
    models.push(spec);
    used.add(spec.providerId);
  }
  return { models, providers: [...place.providers, ...builtIn.filter(({ id }) => used.has(id))] };
}

function resolveModel(entry: ModelEntry, place: ModelsPlace): ModelSpec | null {
  const report = reporter(place.source, place.gathered);
  const { provider: providerId, model, ...given } = typeof entry === 'string' ? splitShortForm(entry) : entry;
  const path = typeof entry === 'string' ? [] : ['provider'];
  if (`${providerId}${model}`.includes('${')) {
    return report({ path: [], message: '${...} is not expanded here; write the name itself' });
  }
  const provider = place.providers.find(({ id }) => id === providerId);
  if (provider === undefined) {
    if (place.declaredIds.includes(providerId)) return null;
    const known = place.providers.map(({ id }) => id);
    return report({ path, ...toUnknownProvider(providerId, known) });
  }
  const before = place.gathered.problems.length;
  const params = provider.kind === 'mock' ? inlineMockFiles(given.params ?? {}, place) : (given.params ?? {});
  // A mock file that could not be read is not reported again as a missing parameter.
  if (place.gathered.problems.length === before) {
    checkParams(entry, { kind: provider.kind, model, params }, place);
  }
  const spec = { id: given.id ?? `${providerId}:${model}`, providerId, model, params };
  const price = given.price === undefined || given.price === null ? null : toPrice(given.price);
  if (provider.kind === 'mock') return { ...spec, price: price ?? FREE };
  return addKnown({ ...spec, price }, { entry, provider, place });
}

type KnownPlace = {
  readonly entry: ModelEntry;
  readonly provider: ProviderSpec;
  readonly place: ModelsPlace;
};

/**
 * Price and cap of a model that the price table knows; the run file's own come first. The price holds for
 * the provider's own address only: what a proxy charges is its own matter.
 */
function addKnown(spec: ModelSpec, { entry, provider, place }: KnownPlace): ModelSpec {
  const { catalog } = place.gathered;
  const { kind } = provider;
  const known = catalog.findKnownModel({ kind, model: spec.model, params: spec.params, now: Date.now() });
  const defaults = catalog.providers.get(kind);
  const demanded = defaults?.needsOutputLimit === true;
  const isOpen = spec.params['maxOutputTokens'] === undefined;
  const limit = known?.maxOutputTokens ?? null;
  if (demanded && isOpen && limit === null) {
    reporter(
      place.source,
      place.gathered,
    )({
      path: typeof entry === 'string' ? [] : ['params'],
      message:
        `model "${spec.model}" needs params.maxOutputTokens: "${kind}" demands a cap on output, ` +
        'and the price table does not say how long its answers may be',
    });
  }
  if (known === null) return spec;
  const outputLimit = limit !== null && isOpen && (demanded || place.hasBudget) ? limit : null;
  if (outputLimit !== null && place.hasBudget) {
    place.gathered.warnings.push(
      `model "${spec.id}" has no params.maxOutputTokens: each call reserves ${outputLimit} tokens of output against the budget`,
    );
  }
  const isOwn = provider.baseUrl === defaults?.baseUrl;
  const priced = spec.price === null && known.price !== null && isOwn;
  return {
    ...spec,
    price: priced ? known.price : spec.price,
    card: { ...known.card, priced },
    ...(outputLimit === null ? {} : { outputLimit }),
  };
}

type CheckedModel = Parameters<Catalog['findParamProblems']>[0];

function checkParams(entry: ModelEntry, model: CheckedModel, { source, gathered }: Place): void {
  const report = reporter(source, gathered);
  for (const { path, message } of gathered.catalog.findParamProblems(model)) {
    // The short form has no fields to point at.
    report({ path: typeof entry === 'string' ? [] : path, message });
  }
}

type Split = { readonly provider: string; readonly model: string } & {
  readonly [key in 'id' | 'params' | 'price']?: undefined;
};

/** The first colon parts provider and model; models may have colons of their own. */
export function splitShortForm(entry: string): Split {
  const colon = entry.indexOf(':');
  return { provider: entry.slice(0, colon), model: entry.slice(colon + 1) };
}

function toUnknownProvider(id: string, known: readonly string[]): Omit<Finding, 'path'> {
  if (id === 'openai-compatible') {
    const message =
      'kind "openai-compatible" needs an address: declare it under "providers" with a "baseUrl"';
    return { message, got: id };
  }
  return {
    message: `unknown provider "${id}"; known: ${known.join(', ')}`,
    expected: known.join(', '),
    got: id,
    suggestion: findNearest(id, known),
  };
}

type PriceEntry = Exclude<Exclude<ModelEntry, string>['price'], undefined | null>;

const toPrice = ({ input, output, cacheRead, cacheWrite }: PriceEntry): Price => ({
  input,
  output,
  cacheRead: cacheRead ?? null,
  cacheWrite: cacheWrite ?? null,
});
