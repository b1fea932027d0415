import { outputCap } from '../domain/estimate.ts';
import type { Budgets, ModelSpec, RequestSpec, RunSpec } from '../domain/run.ts';
import type { ScorerSpec } from '../domain/suite.ts';
import type { Gathered } from './catalog.ts';
import { findCommandProblems } from './check-commands.ts';
import { checkJudges } from './check-judges.ts';
import { checkPrices } from './check-prices.ts';
import type { LoadedSuite } from './load-suite.ts';
import { toProblem } from './problem.ts';
import { createLineSource } from './source.ts';
import type { Source } from './source.ts';

type Ready = {
  readonly spec: RunSpec;
  readonly suites: ReadonlyMap<string, LoadedSuite>;
  readonly source: Source;
  /** Where each request stands, by its name. */
  readonly requestSources: ReadonlyMap<string, Source>;
  readonly gathered: Gathered;
};

/** What can be known to fail from the files alone. */
export function checkBeforeStart(ready: Ready): void {
  for (const [key, suite] of ready.suites) checkTargets(key, suite, ready);
  for (const request of ready.spec.requests) {
    checkSessionScorers(request, ready);
    checkCommand(request, ready);
  }
  checkJudges(ready);
  checkPrices(ready);
  checkBudgets(ready);
}

const MAX_NAMED = 10;

/** `a, b, c and 4 more` */
function listNames(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function checkTargets(key: string, { suite, places }: LoadedSuite, { gathered }: Ready): void {
  const needs = ({ kind, options }: ScorerSpec): boolean =>
    gathered.catalog.scorers.get(kind)?.needsTarget(options) ?? false;
  const without = new Map<string, number[]>();
  for (const [index, { testCase, target }] of suite.cases.entries()) {
    if (target !== null) continue;
    for (const scorer of (testCase.scorers ?? suite.scorers).filter(needs)) {
      without.set(scorer.name, [...(without.get(scorer.name) ?? []), index]);
    }
  }
  for (const [scorer, indices] of without) {
    const ids = indices.map((index) => suite.cases[index]?.testCase.id ?? '');
    const count = ids.length === 1 ? '1 case has' : `${ids.length} cases have`;
    const message =
      `suite "${suite.name}": scorer "${scorer}" needs a target, and ${count} none: ${listNames(ids)}. ` +
      'Give them a "target" or scorers of their own';
    const place = places[indices[0] ?? 0];
    const source = createLineSource(place?.file ?? key, place?.line ?? 1, '');
    const at = place?.line === null || place === undefined ? { ...source, locate: () => null } : source;
    gathered.problems.push(toProblem(at, { path: [], message }));
  }
}

function checkSessionScorers(request: RequestSpec, ready: Ready): void {
  const { gathered } = ready;
  const suite = ready.suites.get(request.suiteKey)?.suite;
  if (suite === undefined) return;
  const all = [...suite.scorers, ...suite.cases.flatMap(({ testCase }) => testCase.scorers ?? [])];
  const acting = all.filter(({ kind }) => gathered.catalog.scorers.get(kind)?.place === 'session');
  const names = [...new Set(acting.map(({ name }) => name))];
  if (names.length === 0) return;
  const source = ready.requestSources.get(request.name) ?? ready.source;
  const report = (message: string): void => {
    gathered.problems.push(toProblem(source, { path: [], message }));
  };
  const what = `request "${request.name}": scorer "${listNames(names)}"`;
  if (request.environment.kind === 'none') {
    report(`${what} acts in an environment, and this request has none: add environment: { kind: host }`);
  } else if (request.evaluation === 'none') {
    report(`${what} needs a session to grade in: choose evaluation "reuse" or "fresh"`);
  }
}

function checkCommand(request: RequestSpec, { spec, suites, source, requestSources, gathered }: Ready): void {
  const suite = suites.get(request.suiteKey)?.suite;
  if (suite === undefined) return;
  const { catalog, problems } = gathered;
  for (const message of findCommandProblems({ request, suite, spec, catalog }))
    problems.push(toProblem(requestSources.get(request.name) ?? source, { path: ['harness'], message }));
}

function checkBudgets({ spec, source, gathered }: Ready): void {
  const { budgets } = spec;
  const models = [
    ...spec.models,
    ...(spec.judges ?? []).map((judge) => ({ ...judge, id: `judge ${judge.id}` })),
  ];
  const report = (key: keyof Budgets, message: string): void => {
    gathered.problems.push(toProblem(source, { path: ['budgets', key], at: 'key', message }));
  };
  const money = (['maxRunUsd', 'maxModelUsd', 'confirmAboveUsd'] as const).find(
    (key) => budgets[key] !== null,
  );
  const unpriced = models.filter(({ price }) => price === null).map(({ id }) => id);
  if (money !== undefined && unpriced.length > 0 && !budgets.allowUnpriced) {
    report(
      money,
      `a budget needs the price of every model, and these have none: ${listNames(unpriced)}. ` +
        'Give each a "price", or set budgets.allowUnpriced: true',
    );
  }
  const cap = (['maxRunTokens', 'maxRunUsd', 'maxModelUsd'] as const).find((key) => budgets[key] !== null);
  if (cap === undefined) return;
  const costs = ({ price }: ModelSpec): boolean => price === null || price.output > 0;
  const open = models.filter((model) => !isBounded(model) && (budgets.maxRunTokens !== null || costs(model)));
  if (open.length === 0) return;
  const names = listNames(open.map(({ id }) => id));
  report(
    cap,
    `a budget reserves the longest possible answer, so these models need params.maxOutputTokens: ${names}`,
  );
}

const isBounded = (model: ModelSpec): boolean => (outputCap(model) ?? 0) > 0;

/** Whether calls reserve before they are sent. */
export const hasBudget = ({ maxRunTokens, maxRunUsd, maxModelUsd }: Budgets): boolean =>
  [maxRunTokens, maxRunUsd, maxModelUsd].some((budget) => budget !== null);
