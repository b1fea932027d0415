import { createHash } from 'node:crypto';
import type { CheckedRequest } from './check-environments.ts';
import type { ReadRun } from './read-document.ts';
import type { RequestPlan, RunPlan } from '../domain/plan.ts';
import { listJudges } from '../domain/judge.ts';
import type { ScorerSpec, Suite } from '../domain/suite.ts';
import { placeOfScorer } from './run-code.ts';
import type { RunModule } from '../domain/run-module.ts';
import { toEngineId } from '../providers/lookup.ts';
import type { Scorer } from '../scorers/scorer.ts';

/** What is recorded of each request: its settings, its suite by digest, and where its tasks may live. */
export const toRequestPlans = (
  loaded: ReadRun,
  checked: readonly CheckedRequest[] = [],
): readonly RequestPlan[] =>
  loaded.spec.requests.map((spec, index): RequestPlan => {
    const found = checked[index];
    const suite = loaded.suites.get(spec.suiteKey);
    if (suite === undefined) throw new Error(`the document holds no suite "${spec.suiteKey}"`);
    const places = listPlaces(suite, loaded.spec.module);
    const sessionScorers = places.has('session');
    const judgeEngines = places.has('judge') ? listJudgeEngines(suite, loaded.spec) : [];
    return {
      index,
      spec,
      suiteName: suite.name,
      suiteVersion: suite.version,
      suiteDigest: digestSuite(suite),
      caseCount: suite.cases.length,
      scorers: suite.scorers,
      sessionScorers,
      ...(places.has('process') ? { processScorers: true } : {}),
      ...(judgeEngines.length > 0 ? { judgeEngines } : {}),
      light: spec.harness.kind === 'direct' && spec.environment.kind === 'none' && !sessionScorers,
      failure: found?.kind === 'failed' ? found.problem : null,
      ...(found?.kind === 'waiting' ? { unprepared: true } : {}),
    };
  });

/** The requests of a plan as they are graded by other scorers, all cases alike. */
export const withScorers = (plan: RunPlan, scorers: readonly ScorerSpec[] | null): RunPlan =>
  scorers === null
    ? plan
    : { ...plan, requests: plan.requests.map((request) => regrade(request, plan.spec, scorers)) };

function regrade(request: RequestPlan, spec: RunPlan['spec'], scorers: readonly ScorerSpec[]): RequestPlan {
  const { processScorers: _process, judgeEngines: _judges, ...rest } = request;
  const suite = { scorers, cases: [] };
  const places = listPlaces(suite, spec.module);
  const judgeEngines = places.has('judge') ? listJudgeEngines(suite, spec) : [];
  return {
    ...rest,
    scorers,
    sessionScorers: places.has('session'),
    ...(places.has('process') ? { processScorers: true } : {}),
    ...(judgeEngines.length > 0 ? { judgeEngines } : {}),
  };
}

/** In the order of the judges. */
function listJudgeEngines(
  suite: Pick<Suite, 'scorers' | 'cases'>,
  { judges = [], providers, module }: ReadRun['spec'],
): readonly string[] {
  const asked = new Set(
    listScorers(suite)
      .filter(({ kind }) => placeOfScorer(module, kind) === 'judge')
      .flatMap(({ options }) => listJudges(options, judges)),
  );
  const used = judges.filter(({ id }) => asked.has(id));
  const engines = used.flatMap(({ providerId }) => providers.filter(({ id }) => id === providerId));
  return [...new Set(engines.map(toEngineId))];
}

const listScorers = (suite: Pick<Suite, 'scorers' | 'cases'>): readonly ScorerSpec[] =>
  [suite.scorers, ...suite.cases.map((one) => one.testCase.scorers ?? [])].flat();

function listPlaces(
  suite: Pick<Suite, 'scorers' | 'cases'>,
  module: RunModule | undefined,
): ReadonlySet<Scorer['place']> {
  return new Set(
    [...new Set(listScorers(suite).map(({ kind }) => kind))].map((kind) => placeOfScorer(module, kind)),
  );
}

/** Case by case, so that a large suite is never held as one text. */
function digestSuite(suite: Suite): string {
  const hash = createHash('sha256').update(JSON.stringify([suite.name, suite.version, suite.scorers]));
  for (const one of suite.cases) hash.update('\n').update(JSON.stringify(one));
  return hash.digest('hex');
}
