import type { JudgeSums } from '../domain/report-rows.ts';
import type { Usage } from '../domain/usage.ts';
import { addKnown, addUsage, UNKNOWN_USAGE } from '../domain/usage.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

/** What all requests of one cell add up to, over every generation, try and retry; those of judges apart. */
export type CallSums = {
  readonly usage: Usage;
  /** Part of `usage` that bought no answer of the try that counts. */
  readonly wastedUsage: Usage;
  /** Sum of the known costs; null = none is known. */
  readonly costUsd: number | null;
  /** Whether every request that used tokens has a cost. */
  readonly priced: boolean;
  /** Completed calls of the agent in the try that counts; null without one. */
  readonly latencyMs: number | null;
  readonly waitMs: number | null;
  readonly calls: number;
  readonly retriedCalls: number;
  readonly judging?: JudgeSums;
};

/** Which generation and try of a cell gave its answer; everything before it is wasted. */
export type CountedTry = { readonly generation: number; readonly tryNumber: number };

/** The requests of one try, completed ones and others apart. */
export type TrySums = CountedTry & {
  readonly completed: boolean;
  /** Whether they are calls of judges. */
  readonly judging: boolean;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly priced: boolean;
  readonly agentLatencyMs: number | null;
  readonly waitMs: number;
  readonly requests: number;
  readonly retries: number;
};

const NO_CALLS: CallSums = {
  usage: UNKNOWN_USAGE,
  wastedUsage: UNKNOWN_USAGE,
  costUsd: null,
  priced: true,
  latencyMs: null,
  waitMs: null,
  calls: 0,
  retriedCalls: 0,
};

/** Sums by try of every cell that made a call; the key is task and attempt, as `1/2`. */
export async function loadTrySums(db: Db, runId: string): Promise<Map<string, TrySums[]>> {
  const rows = await selectRows<StoredSums>(db, { text: SUMS, values: [runId] });
  const sums = new Map<string, TrySums[]>();
  for (const row of rows) {
    const cell = `${row.task}/${row.attempt}`;
    const others = sums.get(cell);
    if (others === undefined) sums.set(cell, [toTrySums(row)]);
    else others.push(toTrySums(row));
  }
  return sums;
}

/** Adds up the tries of one cell. */
export const addTries = (tries: readonly TrySums[], counted: CountedTry): CallSums =>
  tries.reduce((sums, one) => addTry(sums, one, counted), NO_CALLS);

function addTry(sums: CallSums, one: TrySums, counted: CountedTry): CallSums {
  if (one.judging) return { ...sums, judging: addJudging(sums.judging, one) };
  const current =
    one.generation > counted.generation ||
    (one.generation === counted.generation && one.tryNumber >= counted.tryNumber);
  const wasted = !one.completed || !current;
  return {
    ...sums,
    usage: addUsage(sums.usage, one.usage),
    wastedUsage: wasted ? addUsage(sums.wastedUsage, one.usage) : sums.wastedUsage,
    costUsd: addKnown(sums.costUsd, one.costUsd),
    priced: sums.priced && one.priced,
    latencyMs: wasted ? sums.latencyMs : addKnown(sums.latencyMs, one.agentLatencyMs),
    waitMs: addKnown(sums.waitMs, one.waitMs),
    calls: sums.calls + (one.completed ? one.requests : 0),
    retriedCalls: sums.retriedCalls + one.retries,
  };
}

function addJudging(sums: JudgeSums | undefined, one: TrySums): JudgeSums {
  return {
    calls: (sums?.calls ?? 0) + (one.completed ? one.requests : 0),
    costUsd: addKnown(sums?.costUsd ?? null, one.costUsd),
    priced: (sums?.priced ?? true) && one.priced,
    usage: addUsage(sums?.usage ?? UNKNOWN_USAGE, one.usage),
  };
}

/** A call whose worst case costs nothing costs nothing, whatever became of it. */
const COST = 'coalesce(cost_usd, case when worst_usd = 0 then 0 end)';

/** The process of an external agent spans its calls, and is no call itself. */
const SUMS = `
  select task, attempt, generation, try_number, state = 'completed' as completed, purpose like 'judge/%' as judging,
    sum(input_tokens)::float8 as input_tokens, sum(output_tokens)::float8 as output_tokens,
    sum(reasoning_tokens)::float8 as reasoning_tokens, sum(cache_read_tokens)::float8 as cache_read_tokens,
    sum(cache_write_tokens)::float8 as cache_write_tokens, sum(${COST})::float8 as cost_usd,
    coalesce(bool_and(${COST} is not null) filter (
      where input_tokens > 0 or output_tokens > 0 or estimated or state = 'completed'), true) as priced,
    coalesce(sum(latency_ms) filter (where purpose = 'command'),
      sum(latency_ms) filter (where purpose = 'agent')) as agent_latency_ms, sum(waited_ms) as wait_ms,
    (count(*) filter (where purpose <> 'command'))::int as requests, (count(*) filter (where request_number > 1))::int as retries
  from model_calls where run_id = $1
  group by task, attempt, generation, try_number, state = 'completed', purpose like 'judge/%'`;

type StoredSums = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly try_number: number;
  readonly completed: boolean;
  readonly judging: boolean;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly cost_usd: number | null;
  readonly priced: boolean;
  readonly agent_latency_ms: number | null;
  readonly wait_ms: number;
  readonly requests: number;
  readonly retries: number;
};

const toTrySums = (row: StoredSums): TrySums => ({
  generation: row.generation,
  tryNumber: row.try_number,
  completed: row.completed,
  judging: row.judging,
  usage: {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
  },
  costUsd: row.cost_usd,
  priced: row.priced,
  agentLatencyMs: row.agent_latency_ms,
  waitMs: row.wait_ms,
  requests: row.requests,
  retries: row.retries,
});
