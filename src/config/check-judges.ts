import { listJudges } from '../domain/judge.ts';
import type { RunSpec } from '../domain/run.ts';
import type { ScorerSpec, Suite } from '../domain/suite.ts';
import type { Catalog, Gathered } from './catalog.ts';
import type { LoadedSuite } from './load-suite.ts';
import { findNearest } from './nearest.ts';
import { toProblem } from './problem.ts';
import type { Source } from './source.ts';

type Judged = {
  readonly spec: RunSpec;
  readonly suites: ReadonlyMap<string, LoadedSuite>;
  readonly source: Source;
  readonly gathered: Gathered;
};

/** A scorer that asks a judge needs one, and the judges that it names. */
export function checkJudges({ spec, suites, source, gathered }: Judged): void {
  const { judges } = spec;
  // Of judges that are wrong themselves this is no news.
  if (judges === undefined && gathered.problems.length > 0) return;
  const known = judges?.map(({ id }) => id) ?? [];
  const asking = [...suites.values()].flatMap(({ suite }) =>
    listAsking(suite, gathered.catalog).map((scorer) => ({ suite, scorer })),
  );
  const problems = new Map<string, string | null>();
  for (const { suite, scorer } of asking) {
    const what = `suite "${suite.name}": scorer "${scorer.name}" asks`;
    if (judges === undefined)
      problems.set(`${what} a judge, and the run has none: add judge: { model: "provider:model" }`, null);
    for (const id of listJudges(scorer.options, judges ?? []).filter((one) => !known.includes(one)))
      if (judges !== undefined)
        problems.set(`${what} judge "${id}", and the run has ${known.join(', ')}`, findNearest(id, known));
  }
  for (const [message, suggestion] of problems)
    gathered.problems.push(
      toProblem(source, { path: judges === undefined ? [] : ['judge'], message, suggestion }),
    );
}

/** A judge that no scorer asks is no part of the run: its key is not needed, and its engine not opened. */
export function keepAskedJudges(
  spec: RunSpec,
  suites: ReadonlyMap<string, LoadedSuite>,
  { catalog, warnings }: Gathered,
): RunSpec {
  const { judges, ...rest } = spec;
  if (judges === undefined) return spec;
  const asking = [...suites.values()].flatMap(({ suite }) => listAsking(suite, catalog));
  const asked = new Set(asking.flatMap(({ options }) => listJudges(options, judges)));
  const kept = judges.filter(({ id }) => asked.has(id));
  const idle = judges.filter(({ id }) => !asked.has(id)).map(({ id }) => id);
  if (idle.length > 0) warnings.push(`judge ${idle.join(', ')}: no scorer asks it`);
  const called = [...spec.models, ...kept];
  const dropped = judges.filter(({ providerId }) => !called.some((model) => model.providerId === providerId));
  const providers = spec.providers.filter(({ id }) => !dropped.some(({ providerId }) => providerId === id));
  return { ...rest, providers, ...(kept.length === 0 ? {} : { judges: kept }) };
}

const listAsking = (suite: Suite, catalog: Catalog): readonly ScorerSpec[] =>
  [...suite.scorers, ...suite.cases.flatMap(({ testCase }) => testCase.scorers ?? [])].filter(
    ({ kind }) => catalog.scorers.get(kind)?.place === 'judge',
  );
