import type { Estimate, ModelEstimate } from './plan.ts';
import type { ModelSpec, RequestSpec, RunSpec } from './run.ts';
import { listJudges } from './judge.ts';
import type { ScorerSpec, Suite, SuiteCase, TestCase } from './suite.ts';
import { toCostUsd, UNKNOWN_USAGE, withoutLong } from './usage.ts';

/** Output of a call whose model declares no cap. */
const ASSUMED_OUTPUT_TOKENS = 512;
/** Steps that an agent is assumed to take of those that it may. */
const ASSUMED_AGENT_STEPS = 10;
const BYTES_PER_TOKEN = 4;

/**
 * Tokens and cost of a run before anything is sent: a token for every four bytes of input, the declared
 * cap (else 512 tokens) of output, ten steps for an agent. An agent reads its own transcript again at every
 * step. Money is null when the price of a model is unknown.
 */
export function estimateRun(spec: RunSpec, suites: ReadonlyMap<string, Suite>): Estimate {
  const models = spec.models.map((model) => estimateModel(model, spec, suites));
  const used = models.filter((model) => model.cells > 0);
  const sum = (pick: (model: ModelEstimate) => number): number =>
    used.reduce((total, one) => total + pick(one), 0);
  const { judges = [] } = spec;
  const unpricedJudges = judges.filter(({ price }) => price === null).map(({ id }) => `judge ${id}`);
  const unpricedModels = used
    .filter(
      ({ modelId, costUsd }) =>
        costUsd === null && (unpricedJudges.length === 0 || isUnpriced(spec, modelId)),
    )
    .map((model) => model.modelId);
  return {
    cells: sum((one) => one.cells),
    modelCalls: sum((one) => one.modelCalls),
    inputTokens: sum((one) => one.inputTokens),
    outputTokens: sum((one) => one.outputTokens),
    costUsd: used.some(({ costUsd }) => costUsd === null) ? null : sum((one) => one.costUsd ?? 0),
    unpricedModels: [...unpricedModels, ...unpricedJudges],
    models,
  };
}

function estimateModel(model: ModelSpec, spec: RunSpec, suites: ReadonlyMap<string, Suite>): ModelEstimate {
  let [cells, modelCalls, inputTokens, outputTokens] = [0, 0, 0, 0];
  let judging = NO_JUDGING;
  const perCall = declaredCap(model) ?? ASSUMED_OUTPUT_TOKENS;
  for (const request of spec.requests.filter((one) => one.modelIds.includes(model.id))) {
    const steps = assumedSteps(request);
    const suite = suites.get(request.suiteKey);
    for (const item of suite?.cases ?? []) {
      const { testCase } = item;
      const { k } = request.attempts;
      const read = Math.ceil(inputBytes(testCase) / BYTES_PER_TOKEN);
      cells += k;
      modelCalls += k * steps;
      inputTokens += k * (steps * read + (perCall * steps * (steps - 1)) / 2);
      outputTokens += k * steps * perCall;
      judging = addJudging(judging, estimateJudging(spec, item, suite?.scorers ?? []), k);
    }
  }
  const ownUsd = toCostUsd({ ...UNKNOWN_USAGE, inputTokens, outputTokens }, withoutLong(model.price));
  return {
    modelId: model.id,
    cells,
    modelCalls: modelCalls + judging.calls,
    inputTokens: inputTokens + judging.inputTokens,
    outputTokens: outputTokens + judging.outputTokens,
    costUsd: ownUsd === null || judging.costUsd === null ? null : ownUsd + judging.costUsd,
  };
}

type Judging = {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
};

const NO_JUDGING: Judging = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** What a judge reads beside rubric, task and answer. */
const JUDGE_INSTRUCTIONS_TOKENS = 400;

/** One question to each judge of each scorer about one answer. */
function estimateJudging(
  { judges = [] }: RunSpec,
  { testCase, target }: SuiteCase,
  scorers: readonly ScorerSpec[],
): Judging {
  let sums = NO_JUDGING;
  for (const { options } of (testCase.scorers ?? scorers).filter(({ kind }) => kind === 'judge')) {
    const read = inputBytes(testCase) + JSON.stringify([options, target]).length;
    const inputTokens = Math.ceil(read / BYTES_PER_TOKEN) + ASSUMED_OUTPUT_TOKENS + JUDGE_INSTRUCTIONS_TOKENS;
    for (const id of listJudges(options, judges)) {
      const judge = judges.find((one) => one.id === id);
      if (judge === undefined) continue;
      const outputTokens = declaredCap(judge) ?? ASSUMED_OUTPUT_TOKENS;
      const usage = { ...UNKNOWN_USAGE, inputTokens, outputTokens };
      const costUsd = toCostUsd(usage, withoutLong(judge.price));
      sums = addJudging(sums, { calls: 1, inputTokens, outputTokens, costUsd }, 1);
    }
  }
  return sums;
}

const addJudging = (sums: Judging, more: Judging, times: number): Judging => ({
  calls: sums.calls + times * more.calls,
  inputTokens: sums.inputTokens + times * more.inputTokens,
  outputTokens: sums.outputTokens + times * more.outputTokens,
  costUsd: sums.costUsd === null || more.costUsd === null ? null : sums.costUsd + times * more.costUsd,
});

const isUnpriced = ({ models }: RunSpec, modelId: string): boolean =>
  models.some(({ id, price }) => id === modelId && price === null);

function assumedSteps({ harness }: RequestSpec): number {
  switch (harness.kind) {
    case 'direct':
      return 1;
    case 'agent':
      return Math.min(ASSUMED_AGENT_STEPS, harness.maxSteps);
    case 'command':
      return Math.min(ASSUMED_AGENT_STEPS, harness.maxTurns ?? ASSUMED_AGENT_STEPS);
  }
}

/** The cap on output that is sent with every call of a model, or null. */
export const outputCap = (model: ModelSpec): number | null => declaredCap(model) ?? model.outputLimit ?? null;

const declaredCap = (model: ModelSpec): number | null => {
  const cap = model.params['maxOutputTokens'];
  return typeof cap === 'number' ? cap : null;
};

/** Bytes of UTF-8 are at most three a UTF-16 unit; lengths suffice for an estimate. */
function inputBytes(testCase: TestCase): number {
  const { input, system, choices } = testCase;
  const text =
    input.kind === 'text' ? input.text.length : input.messages.reduce((sum, m) => sum + m.text.length, 0);
  return text + (system?.length ?? 0) + (choices?.reduce((sum, choice) => sum + choice.length, 0) ?? 0);
}
