import type { HarnessSpec, RequestSpec } from '../domain/run.ts';
import { toLimits } from './build-case.ts';
import type { Catalog, Gathered } from './catalog.ts';
import { findNearest } from './nearest.ts';
import { toProblem } from './problem.ts';
import type { Finding } from './problem.ts';
import { toUnavailable } from './resolve-models.ts';
import type { RequestEntry } from './run-file.ts';
import { parseDurationMs } from './shapes.ts';
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
  const harness = resolveHarness(entry.harness, toOffered(entry, gathered.catalog), report);
  if (isNone(entry.environment)) checkTools(harness, gathered.catalog, report);
  checkPatterns(entry.retries.patterns, report);
  return {
    name,
    suiteKey,
    modelIds: resolveModelIds(entry.models, names, report),
    harness,
    environment,
    evaluation: typeof entry.evaluation === 'string' ? entry.evaluation : entry.evaluation.environment,
    attempts: entry.attempts,
    retries: entry.retries,
    limits: toLimits(entry.limits, parseDurationMs('10m')),
    order: entry.order,
  };
}

type Offered = { readonly known: ReadonlySet<string>; readonly unlessNamed: readonly string[] };

/** Without an environment nothing but the run file's own tools can act. */
function toOffered(entry: RequestEntry, { tools, moduleTools = new Set() }: Catalog): Offered {
  const known = new Set([...tools, ...moduleTools]);
  const acting = isNone(entry.environment) && moduleTools.size > 0 ? moduleTools : known;
  return { known, unlessNamed: [...acting] };
}

function checkTools(harness: HarnessSpec, { moduleTools = new Set() }: Catalog, report: Report): void {
  if (harness.kind !== 'agent') return;
  const acting = harness.tools.filter((tool) => !moduleTools.has(tool));
  if (acting.length === 0 && harness.tools.length > 0) return;
  const message =
    moduleTools.size === 0
      ? 'the agent harness needs an environment to act in: add environment: { kind: host }'
      : `${acting.length === 0 ? 'the agent harness' : acting.join(', ')} needs an environment to act in: add environment: { kind: host }, or name tools of this file alone`;
  report({ path: ['environment'], message, expected: 'host', got: 'none' });
}

function resolveHarness(
  given: RequestEntry['harness'],
  { known: tools, unlessNamed }: Offered,
  report: Report,
): HarnessSpec {
  const kind = typeof given === 'string' ? given : given.kind;
  switch (kind) {
    case 'direct':
      return { kind };
    case 'agent': {
      const entry = typeof given === 'string' || given.kind !== 'agent' ? null : given;
      const named = entry?.tools ?? unlessNamed;
      named.forEach((tool, index) => {
        if (tools.has(tool)) return;
        const known = [...tools].join(', ');
        const suggestion = findNearest(tool, tools);
        const message = `unknown tool "${tool}"; available: ${known}`;
        report({ path: ['harness', 'tools', index], message, expected: known, got: tool, suggestion });
      });
      return { kind, tools: [...new Set(named)], maxSteps: entry?.maxSteps ?? 30 };
    }
    case 'command':
      report({
        path: ['harness', 'kind'],
        message: toUnavailable('harness "command"', ['direct', 'agent']),
        got: kind,
      });
      return { kind: 'direct' };
  }
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
