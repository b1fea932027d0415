import type { RequestSpec, RunSpec } from '../domain/run.ts';
import type { Suite } from '../domain/suite.ts';
import type { Catalog, Gathered } from './catalog.ts';
import type { LoadedSuite } from './load-suite.ts';
import { toProblem } from './problem.ts';
import type { Source } from './source.ts';

type Priced = {
  readonly spec: RunSpec;
  readonly suites: ReadonlyMap<string, LoadedSuite>;
  readonly source: Source;
  readonly requestSources: ReadonlyMap<string, Source>;
  readonly gathered: Gathered;
};

/** What looks at the cost of an attempt needs the price of its model: without one nothing could be scored, no limit would hold. */
export function checkPrices({ spec, suites, source, requestSources, gathered }: Priced): void {
  for (const request of spec.requests) {
    const suite = suites.get(request.suiteKey)?.suite;
    const unpriced = spec.models
      .filter(({ id, price }) => price === null && request.modelIds.includes(id))
      .map(({ id }) => id);
    // External agents may say themselves what they cost.
    if (suite === undefined || unpriced.length === 0 || request.harness.kind === 'command') continue;
    const at = requestSources.get(request.name) ?? source;
    const models = unpriced.slice(0, 10).join(', ') + (unpriced.length > 10 ? ' and others' : '');
    for (const message of listMessages(request, { suite, spec, catalog: gathered.catalog }))
      gathered.problems.push(
        toProblem(at, {
          path: [],
          message: `request "${request.name}": ${message.replace('MODELS', models)}`,
        }),
      );
  }
}

function listMessages(
  { limits }: RequestSpec,
  { suite, spec, catalog }: { readonly suite: Suite; readonly spec: RunSpec; readonly catalog: Catalog },
): readonly string[] {
  const scorers = [...suite.scorers, ...suite.cases.flatMap(({ testCase }) => testCase.scorers ?? [])];
  const asking = scorers.filter(
    ({ kind, required }) => required && catalog.scorers.get(kind)?.needsPrice === true,
  );
  const names = [...new Set(asking.map(({ name }) => name))].join(', ');
  const isCapped =
    limits.attemptCostUsd !== null ||
    suite.cases.some(({ testCase }) => (testCase.limits?.attemptCostUsd ?? null) !== null);
  return [
    ...(names === ''
      ? []
      : [
          `scorer "${names}" is required and judges what an attempt costs, and these models have no price: MODELS. Give each a "price", or the scorer "required: false"`,
        ]),
    ...(isCapped && !spec.budgets.allowUnpriced
      ? [
          'limits.attemptCostUsd cannot hold for models without a price: MODELS. Give each a "price", or set budgets.allowUnpriced: true',
        ]
      : []),
  ];
}
