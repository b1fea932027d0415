import { randomInt } from 'node:crypto';
import { isAbsolute, posix, resolve } from 'node:path';
import type { RunSpec } from '../domain/run.ts';
import type { Suite } from '../domain/suite.ts';
import type { Catalog, Gathered } from './catalog.ts';
import { loadSuite, toStem } from './load-suite.ts';
import type { LoadedSuite, SuiteRef } from './load-suite.ts';
import { applyOverrides } from './overrides.ts';
import type { RunOverrides } from './overrides.ts';
import { checkBeforeStart, hasBudget } from './preflight.ts';
import { keepAskedJudges } from './check-judges.ts';
import { ConfigError, sortProblems, toProblem } from './problem.ts';
import type { Path } from './problem.ts';
import { resolveJudges } from './resolve-judges.ts';
import { readRun } from './read-run.ts';
import type { RunSource, RunText } from './read-run.ts';
import { resolveModels, resolveProviders } from './resolve-models.ts';
import { resolveRequest } from './resolve-requests.ts';
import type { ListedRequest } from './resolve-requests.ts';
import { readParts } from './run-parts.ts';
import type { RunParts } from './run-parts.ts';
import { SELECT_ALL, selectRun } from './selection.ts';
import type { Selection } from './selection.ts';
import { createValueSource, within } from './source.ts';
import { isMap } from './written.ts';

/** A run file with everything that it names: nothing has to be read again. */
export type LoadedRun = {
  readonly spec: RunSpec;
  /** By `suiteKey` of the requests. */
  readonly suites: ReadonlyMap<string, Suite>;
  /** Files of cases and scorers by SHA-256. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The file gave no seed, so one was drawn. */
  readonly seedDrawn: boolean;
  readonly warnings: readonly string[];
};

export type LoadRequest = {
  readonly source: RunSource;
  readonly selection?: Selection;
  readonly overrides?: RunOverrides;
  /** Of the project's `assay.config.ts`: below what the file says itself. */
  readonly defaults?: { readonly [key: string]: unknown };
  readonly catalog: Catalog;
};

/**
 * Reads and checks a run file and its suites whole. Throws `ConfigError` with every problem of all files.
 */
export async function loadRun(request: LoadRequest): Promise<LoadedRun> {
  const { source: from, selection = SELECT_ALL, overrides = {}, defaults = {}, catalog } = request;
  const gathered: Gathered = { catalog, problems: [], warnings: [], files: new Map() };
  const run = readRun(from, gathered, defaults);
  const parts = readParts(run, gathered);
  const listed = listRequests(parts, run, gathered);
  const declared = resolveRun(parts, listed, { run, gathered });
  const spec = applyOverrides(declared, overrides);
  const suites = loadSuites(listed, { run, gathered });
  const whole = new Map([...suites].map(([key, { suite }]) => [key, suite]));
  const selected = gathered.problems.length > 0 ? null : selectRun({ spec, suites: whole }, selection);
  if (selected?.kind === 'empty') {
    const place = createValueSource('(selection)', new Set());
    throw new ConfigError(selected.problems.map((problem) => toProblem(place, { path: [], ...problem })));
  }
  const narrowed = selected === null ? suites : narrowSuites(suites, selected.suites);
  const final = selected?.spec ?? spec;
  const requestSources = new Map(listed.map(({ name, source }) => [name, source]));
  checkBeforeStart({ spec: final, suites: narrowed, source: run.source, requestSources, gathered });
  if (gathered.problems.length > 0) throw new ConfigError(sortProblems(gathered.problems, run.source.file));
  return {
    spec: keepAskedJudges(final, narrowed, gathered),
    suites: selected?.suites ?? whole,
    files: gathered.files,
    seedDrawn: parts.execution.seed === undefined && overrides.seed === undefined,
    warnings: [...gathered.warnings, ...(selected?.warnings ?? [])],
  };
}

type Place = { readonly run: RunText; readonly gathered: Gathered };

/** Names of requests and keys of suites; a name that stands twice is a problem. */
function listRequests(parts: RunParts, run: RunText, gathered: Gathered): readonly ListedRequest[] {
  const listed: ListedRequest[] = [];
  for (const { entry, path } of parts.requests) {
    const source = within(run.source, path);
    const name = entry.name ?? toRequestName(entry.suite, run);
    if (listed.some((other) => other.name === name)) {
      const at: Path = entry.name === undefined ? [] : ['name'];
      const message = `two requests have the name "${name}": give each a "name" of its own`;
      gathered.problems.push(toProblem(source, { path: at, message }));
    }
    const suiteKey = typeof entry.suite === 'string' ? posix.normalize(entry.suite) : `inline:${name}`;
    listed.push({ entry, source, name, suiteKey });
  }
  return listed;
}

function toRequestName(suite: string | { readonly [key: string]: unknown }, run: RunText): string {
  if (typeof suite === 'string') return toStem(suite);
  const { name } = suite;
  return typeof name === 'string' && name.trim() !== '' ? name : run.stem;
}

function resolveRun(parts: RunParts, listed: readonly ListedRequest[], { run, gathered }: Place): RunSpec {
  const declared = resolveProviders(parts.providers, { source: within(run.source, ['providers']), gathered });
  const place = {
    source: run.source,
    gathered,
    baseDir: run.baseDir,
    providers: declared,
    declaredIds: parts.declaredProviderIds,
    hasBudget: hasBudget(toBudgets(parts.budgets)),
  };
  const listedModels = parts.models.map(({ index, entry }) => ({ entry, path: ['models', index] }));
  const { models, providers } = resolveModels(listedModels, place);
  const judges = resolveJudges(parts, place);
  const usable = models.map(({ id }) => id);
  const names = { usable, known: [...new Set([...usable, ...parts.declaredModelIds])] };
  const { seed, timeout, cleanupGrace, ...execution } = parts.execution;
  const { baseline: _baseline, ...gates } = parts.gates;
  const { name, context } = run.value;
  return {
    name: typeof name === 'string' ? name : run.stem,
    models,
    providers: [...new Map([...providers, ...judges.providers].map((one) => [one.id, one])).values()],
    requests: listed.map((request) => resolveRequest(request, names, gathered)),
    execution: {
      ...execution,
      timeoutMs: timeout,
      cleanupGraceMs: cleanupGrace,
      seed: seed ?? randomInt(2 ** 32),
    },
    budgets: toBudgets(parts.budgets),
    gates,
    ...toRanking(parts.ranking),
    context: isMap(context) ? (context as RunSpec['context']) : {},
    ...(judges.models.length === 0 ? {} : { judges: judges.models }),
    ...(run.module === null ? {} : { module: run.module }),
  };
}

/** Nothing where the file says nothing: the board ranks by accuracy then. */
function toRanking({ weights, constraints }: RunParts['ranking']): Pick<RunSpec, 'ranking'> {
  if (weights === undefined && constraints === undefined) return {};
  const { minAccuracy, maxErrorRate, maxCostUsd, maxLatencyP95 } = constraints ?? {};
  return {
    ranking: {
      weights: weights ?? {},
      constraints: {
        minAccuracy: minAccuracy ?? null,
        maxErrorRate: maxErrorRate ?? null,
        maxCostUsd: maxCostUsd ?? null,
        maxLatencyP95Ms: maxLatencyP95 ?? null,
      },
    },
  };
}

const toBudgets = ({ approvalExpiry, ...budgets }: RunParts['budgets']): RunSpec['budgets'] => ({
  ...budgets,
  approvalExpiryMs: approvalExpiry,
});

/** Each suite once, however many requests name it. */
function loadSuites(
  listed: readonly ListedRequest[],
  { run, gathered }: Place,
): ReadonlyMap<string, LoadedSuite> {
  const suites = new Map<string, LoadedSuite>();
  const tried = new Set<string>();
  for (const { entry, source, name, suiteKey } of listed) {
    if (tried.has(suiteKey)) continue;
    tried.add(suiteKey);
    const loaded = loadSuite(toSuiteRef(entry.suite, { run, name }), {
      from: within(source, ['suite']),
      gathered,
    });
    if (loaded !== null) suites.set(suiteKey, loaded);
  }
  return suites;
}

function toSuiteRef(
  suite: string | { readonly [key: string]: unknown },
  { run, name }: { readonly run: RunText; readonly name: string },
): SuiteRef {
  const shownFolder = posix.dirname(run.source.file);
  if (typeof suite !== 'string') {
    return { kind: 'inline', value: suite, name, folder: { path: run.baseDir, shown: shownFolder } };
  }
  const shown = isAbsolute(suite) ? suite : posix.join(shownFolder, suite);
  return { kind: 'file', file: { path: resolve(run.baseDir, suite), shown } };
}

/** The places of the cases that a selection left. */
function narrowSuites(
  loaded: ReadonlyMap<string, LoadedSuite>,
  kept: ReadonlyMap<string, Suite>,
): ReadonlyMap<string, LoadedSuite> {
  return new Map(
    [...kept].map(([key, suite]) => {
      const whole = loaded.get(key);
      const wanted = new Set(suite.cases);
      const places = whole?.places.filter((_place, index) => {
        const item = whole.suite.cases[index];
        return item !== undefined && wanted.has(item);
      });
      return [key, { suite, places: places ?? [] }];
    }),
  );
}
