import type { RequestSpec } from '../domain/run.ts';
import { toArtifacts } from './artifacts-schema.ts';
import { toLimits } from './build-case.ts';
import type { Gathered } from './catalog.ts';
import { findNearest } from './nearest.ts';
import { toProblem } from './problem.ts';
import type { Finding } from './problem.ts';
import { resolveHarness } from './resolve-harness.ts';
import type { RequestEntry } from './run-file.ts';
import { parseDurationMs } from '../domain/duration.ts';
import type { Source } from './source.ts';
import { resolveEnvironment } from './resolve-environment.ts';

/** A request's entry with where it stands and which suite it names. */
export type ListedRequest = {
  readonly entry: RequestEntry;
  readonly source: Source;
  readonly name: string;
  readonly suiteKey: string;
};

export type ModelNames = {
  /** Models of the run in order. */
  readonly usable: readonly string[];
  /** Also those whose declaration is wrong. */
  readonly known: readonly string[];
};

type Report = (finding: Finding) => void;

/** A request with every default filled in; parts that are wrong are reported and replaced by defaults. */
export function resolveRequest(listed: ListedRequest, names: ModelNames, gathered: Gathered): RequestSpec {
  const { entry, source, name, suiteKey } = listed;
  const report: Report = (finding) => gathered.problems.push(toProblem(source, finding));
  const environment = resolveEnvironment(entry.environment, report);
  const isBare = isNone(entry.environment);
  const harness = resolveHarness({ given: entry.harness, isBare }, gathered.catalog, report);
  checkPatterns(entry.retries.patterns, report);
  return {
    name,
    suiteKey,
    modelIds: resolveModelIds(entry.models, names, report),
    harness,
    environment,
    evaluation: typeof entry.evaluation === 'string' ? entry.evaluation : entry.evaluation.environment,
    ...(entry.artifacts === undefined ? {} : { artifacts: toArtifacts(entry.artifacts) }),
    attempts: entry.attempts,
    retries: entry.retries,
    limits: toLimits(entry.limits, parseDurationMs('10m')),
    order: entry.order,
  };
}

const isNone = (given: RequestEntry['environment']): boolean =>
  (typeof given === 'string' ? given : given.kind) === 'none';

function checkPatterns(patterns: readonly string[] | null, report: Report): void {
  for (const [index, pattern] of (patterns ?? []).entries()) {
    try {
      new RegExp(pattern, 'u');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      report({ path: ['retries', 'patterns', index], message: `not a regular expression: ${why}` });
    }
  }
}

function resolveModelIds(
  given: RequestEntry['models'],
  names: ModelNames,
  report: Report,
): readonly string[] {
  if (given === undefined) return names.usable;
  given.forEach((id, index) => {
    const path = ['models', index];
    if (given.indexOf(id) !== index) report({ path, message: `model "${id}" stands twice in this request` });
    if (names.known.includes(id)) return;
    const suggestion = findNearest(id, names.known);
    const message = `unknown model "${id}"; known: ${names.known.join(', ')}`;
    report({ path, message, expected: names.known.join(', '), got: id, suggestion });
  });
  return given.filter((id, index) => names.usable.includes(id) && given.indexOf(id) === index);
}
