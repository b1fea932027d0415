import { readKey } from '../config/environment-variables.ts';
import type { LoadedRun } from '../config/load.ts';
import { isPacked, PACK_ATTEMPTS, PACK_TASKS } from '../domain/pack-tasks.ts';
import type { Estimate, SkippedModel } from '../domain/plan.ts';
import type { RequestSpec, RunSpec } from '../domain/run.ts';
import type { Suite } from '../domain/suite.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { countOf, formatCount, formatUsd } from './format.ts';
import { quoteWord } from './quote-word.ts';
import { formatTextTable } from './text-table.ts';

export type PlanToDescribe = {
  readonly loaded: LoadedRun;
  readonly estimate: Estimate;
};

/** `assay run FILE --dry-run`: what would run, at what cost; nothing is started or sent. */
export function describePlan({ loaded, estimate }: PlanToDescribe): CommandResult {
  const { spec, suites } = loaded;
  const skipped = findSkipped(spec);
  const requests = spec.requests.map((request) => toRequestRow(request, spec, suites));
  const { models, ...total } = estimate;
  const document = {
    name: spec.name,
    requests,
    models,
    skippedModels: skipped,
    estimate: total,
    seed: spec.execution.seed,
    taskConcurrency: spec.execution.taskConcurrency,
    budgets: spec.budgets,
    judges: (spec.judges ?? []).map(({ id, model, price }) => ({ judgeId: id, model, price })),
    prices: spec.models.map(({ id, price, card }) => ({ modelId: id, price, card: card ?? null })),
    warnings: loaded.warnings,
  };
  const parts = [
    `${spec.name}: ${countOf(estimate.cells, 'cell')} (${countOf(spec.requests.length, 'request')}, ${countOf(spec.models.length, 'model')}), at most ${spec.execution.taskConcurrency} at a time`,
    formatRequests(requests),
    formatModels(estimate, skipped),
    formatEstimate(estimate, spec),
    ...describeJudges(spec),
    ...listPriceSources(spec),
    ...skipped.map(({ modelId, reason }) => `Would be skipped: ${modelId}: ${reason}`),
    ...(skipped.length === spec.models.length
      ? ['No model could be run: set these variables first, here or where the worker runs.']
      : []),
  ];
  return toResult({ document, text: parts.join('\n\n'), next: [toSameCommand()] });
}

/** Whom scorers ask; their calls are part of the estimate of each model. */
function describeJudges(spec: RunSpec): string[] {
  const { judges = [] } = spec;
  if (judges.length === 0) return [];
  const named = judges.map(({ id, model }) => (id.endsWith(model) ? id : `${id} (${model})`)).join(', ');
  const silent = findUnset(spec, judges).map(
    ({ modelId, reason }) => `Judge ${modelId} could not be asked: ${reason}; the run would not start.`,
  );
  return [[`Judges: ${named}; their questions are counted with each model.`, ...silent].join('\n')];
}

/** Which prices come from Assay's table, and from which texts; those of the run file need no word. */
function listPriceSources({ models }: RunSpec): string[] {
  const cards = models.flatMap(({ id, model, card }) =>
    card?.priced === true ? [{ ...card, shown: model === card.model ? id : `${id} (as ${card.model})` }] : [],
  );
  const sources = [...new Set(cards.map(({ source }) => source))];
  const lines = sources.map((source) => {
    const from = cards.filter((card) => card.source === source);
    const dates = from.map(({ date }) => date).toSorted();
    const whose = from[0]?.vendor === true ? '' : ' (a third party)';
    return `Prices of ${dates[0]} or later from ${source}${whose}: ${from.map(({ shown }) => shown).join(', ')}`;
  });
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** The command as it was typed, without `--dry-run`. */
const toSameCommand = (): string =>
  [
    'assay',
    ...process.argv
      .slice(2)
      .filter((word) => word !== '--dry-run')
      .map(quoteWord),
  ].join(' ');

/** Models whose key is not here. The worker may have it, and also asks whether the address answers. */
const findSkipped = (spec: RunSpec): readonly SkippedModel[] => findUnset(spec, spec.models);

function findUnset(spec: RunSpec, models: RunSpec['models']): readonly SkippedModel[] {
  return models.flatMap((model) => {
    const name = spec.providers.find((provider) => provider.id === model.providerId)?.apiKeyEnv ?? null;
    if (name === null || readKey(name) !== null) return [];
    return [{ modelId: model.id, reason: `the variable ${name} is not set` }];
  });
}

type RequestRow = {
  readonly name: string;
  readonly suite: string;
  readonly cases: number;
  readonly models: number;
  readonly attempts: number;
  readonly strategy: string;
  readonly cells: number;
  readonly harness: string;
  readonly environment: string;
  readonly packing: string;
};

function toRequestRow(request: RequestSpec, spec: RunSpec, suites: ReadonlyMap<string, Suite>): RequestRow {
  const suite = suites.get(request.suiteKey);
  const cases = suite?.cases.length ?? 0;
  const cells = cases * request.modelIds.length * request.attempts.k;
  const light = request.harness.kind === 'direct' && request.environment.kind === 'none';
  const rule = { ...spec.execution, requests: [{ light, attempts: cells }] };
  return {
    name: request.name,
    suite: suite?.name ?? request.suiteKey,
    cases,
    models: request.modelIds.length,
    attempts: request.attempts.k,
    strategy: request.attempts.strategy,
    cells,
    harness: request.harness.kind,
    environment: request.environment.kind,
    packing: isPacked(rule, 0)
      ? `up to ${PACK_TASKS} tasks or ${PACK_ATTEMPTS} attempts in one workflow`
      : 'a workflow for each task',
  };
}

const formatRequests = (rows: readonly RequestRow[]): string =>
  formatTextTable({
    heads: ['request', 'suite', 'cases', 'models', 'attempts', 'cells', 'harness', 'environment', 'packing'],
    rows: rows.map((row) => [
      row.name,
      row.suite,
      String(row.cases),
      String(row.models),
      row.strategy === 'pass' ? `up to ${row.attempts}` : String(row.attempts),
      String(row.cells),
      row.harness,
      row.environment,
      row.packing,
    ]),
    right: [2, 3, 4, 5],
  });

const formatModels = ({ models }: Estimate, skipped: readonly SkippedModel[]): string =>
  formatTextTable({
    heads: ['model', 'cells', 'calls', 'input tokens', 'output tokens', 'cost'],
    rows: models.map((model) => [
      skipped.some(({ modelId }) => modelId === model.modelId) ? `${model.modelId} (skipped)` : model.modelId,
      String(model.cells),
      formatCount(model.modelCalls),
      formatCount(model.inputTokens),
      formatCount(model.outputTokens),
      formatUsd(model.costUsd),
    ]),
    right: [1, 2, 3, 4, 5],
  });

function formatEstimate(estimate: Estimate, { budgets }: RunSpec): string {
  const cost = formatUsd(estimate.costUsd);
  const lines = [
    `Estimate: ${formatCount(estimate.modelCalls)} calls, ${formatCount(estimate.inputTokens)} tokens in, ${formatCount(estimate.outputTokens)} out, ${cost}`,
  ];
  if (estimate.unpricedModels.length > 0)
    lines.push(
      `Without a price: ${estimate.unpricedModels.join(', ')} (check the name, or give the model a "price")`,
    );
  if (budgets.maxRunUsd !== null) lines.push(`The run stops at ${formatUsd(budgets.maxRunUsd)}.`);
  const { confirmAboveUsd } = budgets;
  if (confirmAboveUsd !== null && (estimate.costUsd === null || estimate.costUsd > confirmAboveUsd)) {
    lines.push(`Above ${formatUsd(confirmAboveUsd)}: it has to be confirmed (--yes).`);
  }
  return lines.join('\n');
}
