import picomatch from 'picomatch';
import type { RunSpec } from '../domain/run.ts';
import type { Suite, SuiteCase } from '../domain/suite.ts';
import { findNearest } from './nearest.ts';

/** Which part of a run is wanted; empty lists and null = all of it. */
export type Selection = {
  /** Ids or globs of ids (`*`, `?`, `{a,b}`; `*` also matches `/`). */
  readonly cases: readonly string[];
  /** Cases with at least one of them. */
  readonly tags: readonly string[];
  readonly excludeTags: readonly string[];
  /** At most so many cases of each suite, the first ones. */
  readonly limit: number | null;
  /** Ids of models. */
  readonly models: readonly string[];
  /** Names of requests. */
  readonly requests: readonly string[];
};

export const SELECT_ALL: Selection = {
  cases: [],
  tags: [],
  excludeTags: [],
  limit: null,
  models: [],
  requests: [],
};

export type Selected =
  | {
      readonly kind: 'selected';
      readonly spec: RunSpec;
      readonly suites: ReadonlyMap<string, Suite>;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'empty'; readonly problems: readonly { message: string; suggestion: string | null }[] };

type Whole = { readonly spec: RunSpec; readonly suites: ReadonlyMap<string, Suite> };

/** Narrows a run. Names that do not exist, and a filter that leaves nothing, are problems. */
export function selectRun({ spec, suites }: Whole, selection: Selection): Selected {
  const requestNames = spec.requests.map(({ name }) => name);
  const modelIds = spec.models.map(({ id }) => id);
  const unknown = [
    ...findUnknown('--request', selection.requests, requestNames),
    ...findUnknown('--model', selection.models, modelIds),
  ];
  if (unknown.length > 0) return { kind: 'empty', problems: unknown };
  const isWanted = (list: readonly string[], item: string): boolean =>
    list.length === 0 || list.includes(item);
  const named = spec.requests
    .filter(({ name }) => isWanted(selection.requests, name))
    .map((request) => ({
      ...request,
      modelIds: request.modelIds.filter((id) => isWanted(selection.models, id)),
    }))
    .filter((request) => request.modelIds.length > 0);
  if (named.length === 0) {
    const message = `--model ${selection.models.join(', ')} leaves nothing: no chosen request uses it`;
    return { kind: 'empty', problems: [{ message, suggestion: null }] };
  }
  const wanted = [...suites].filter(([key]) => named.some(({ suiteKey }) => suiteKey === key));
  const narrowed = new Map(
    wanted.map(([key, suite]) => [key, { ...suite, cases: selectCases(suite, selection) }]),
  );
  const requests = named.filter(({ suiteKey }) => (narrowed.get(suiteKey)?.cases.length ?? 0) > 0);
  if (requests.length === 0) {
    return {
      kind: 'empty',
      problems: [
        explainEmpty(
          wanted.flatMap(([, suite]) => suite.cases),
          selection,
        ),
      ],
    };
  }
  const kept = new Map([...narrowed].filter(([, suite]) => suite.cases.length > 0));
  const used = new Set(requests.flatMap((request) => request.modelIds));
  const models = spec.models.filter(({ id }) => used.has(id));
  const called = [...models, ...(spec.judges ?? [])];
  const providers = spec.providers.filter(({ id }) => called.some(({ providerId }) => providerId === id));
  const dropped = named.filter((request) => !requests.includes(request));
  const warnings = [
    ...dropped.map(({ name }) => `request "${name}": the selection leaves no case of its suite`),
    ...listIdleGlobs(
      [...narrowed.values()].flatMap((suite) => suite.cases),
      selection,
    ),
  ];
  return { kind: 'selected', spec: { ...spec, requests, models, providers }, suites: kept, warnings };
}

const findUnknown = (flag: string, wanted: readonly string[], known: readonly string[]) =>
  wanted
    .filter((name) => !known.includes(name))
    .map((name) => ({
      message: `${flag} "${name}" is unknown; known: ${known.join(', ')}`,
      suggestion: findNearest(name, known),
    }));

type Filter = { readonly flag: string; readonly keeps: (item: SuiteCase) => boolean };

function toFilters({ cases, tags, excludeTags }: Selection): readonly Filter[] {
  const hasTag = (item: SuiteCase, wanted: readonly string[]): boolean =>
    item.testCase.tags.some((tag) => wanted.includes(tag));
  const matchers = cases.map(toMatcher);
  const filters: Filter[] = [];
  if (cases.length > 0) {
    const keeps = ({ testCase }: SuiteCase): boolean => matchers.some((matches) => matches(testCase.id));
    filters.push({ flag: `--case ${cases.join(', ')}`, keeps });
  }
  if (tags.length > 0)
    filters.push({ flag: `--tag ${tags.join(', ')}`, keeps: (item) => hasTag(item, tags) });
  if (excludeTags.length > 0) {
    const keeps = (item: SuiteCase): boolean => !hasTag(item, excludeTags);
    filters.push({ flag: `--exclude-tag ${excludeTags.join(', ')}`, keeps });
  }
  return filters;
}

/** An id that equals the pattern always matches, whatever signs it holds. */
function toMatcher(pattern: string): (id: string) => boolean {
  const matches = picomatch(pattern, { bash: true, dot: true });
  return (id) => id === pattern || matches(id);
}

function selectCases(suite: Suite, selection: Selection): readonly SuiteCase[] {
  const filters = toFilters(selection);
  const kept = suite.cases.filter((item) => filters.every(({ keeps }) => keeps(item)));
  return selection.limit === null ? kept : kept.slice(0, selection.limit);
}

/** Names the filter that took the last case away. */
function explainEmpty(all: readonly SuiteCase[], selection: Selection) {
  let left = all;
  for (const { flag, keeps } of toFilters(selection)) {
    const before = left.length;
    left = left.filter(keeps);
    if (left.length > 0) continue;
    const { wanted, known } = flag.startsWith('--case')
      ? { wanted: selection.cases, known: all.map(({ testCase }) => testCase.id) }
      : { wanted: selection.tags, known: [...new Set(all.flatMap(({ testCase }) => testCase.tags))] };
    const message = `${flag} leaves no case (${before} before it)${flag.startsWith('--tag') ? `; tags: ${known.slice(0, 20).join(', ')}` : ''}`;
    const nearest = wanted.map((name) => findNearest(name, known)).find((name) => name !== null);
    return { message, suggestion: flag.startsWith('--exclude') ? null : (nearest ?? null) };
  }
  return { message: `--limit ${selection.limit ?? 0} leaves no case`, suggestion: null };
}

const listIdleGlobs = (kept: readonly SuiteCase[], { cases }: Selection): readonly string[] =>
  cases
    .filter((pattern) => !kept.some(({ testCase }) => toMatcher(pattern)(testCase.id)))
    .map((pattern) => `--case ${pattern} matches no selected case`);
