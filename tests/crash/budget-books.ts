import { withDatabase } from './records.ts';

/** One request as the books hold it. */
export type BookedCall = {
  /** `task/attempt/try/step/request`. */
  readonly call: string;
  readonly state: string;
  readonly worstUsd: number;
  readonly chargedUsd: number | null;
  readonly estimated: boolean;
};

export type Scope = {
  readonly scope: string;
  readonly spentUsd: number;
  readonly reservedUsd: number;
  readonly reservedTokens: number;
  readonly openCalls: number;
};

export type Books = {
  readonly state: string;
  readonly reason: string | null;
  readonly calls: readonly BookedCall[];
  readonly scopes: readonly Scope[];
  /** Planned cells by outcome; `none` = without one. */
  readonly outcomes: { readonly [outcome: string]: number };
};

const CALLS = `select concat_ws('/', task, attempt, generation, try_number, step, request_number) as call, state,
    worst_usd::float8 as "worstUsd", charged_usd::float8 as "chargedUsd", estimated
  from model_calls where run_id = $1`;
const SCOPES = `select scope, spent_usd::float8 as "spentUsd", reserved_usd::float8 as "reservedUsd",
    reserved_tokens::int as "reservedTokens", open_calls as "openCalls"
  from reservations where run_id = $1 order by scope`;
const OUTCOMES = `select coalesce(outcome, 'none') as outcome, count(*)::int as count from attempts
  where run_id = $1 and planned group by 1`;

/** What the store says of a run's money, calls and cells. */
export const loadBooks = (dataDir: string, runId: string): Promise<Books> =>
  withDatabase(dataDir, async (db) => {
    const run = await db.query<{ state: string; reason: string | null }>(
      'select state, frozen_reason as reason from runs where run_id = $1',
      [runId],
    );
    const calls = await db.query<BookedCall>(CALLS, [runId]);
    const scopes = await db.query<Scope>(SCOPES, [runId]);
    const outcomes = await db.query<{ outcome: string; count: number }>(OUTCOMES, [runId]);
    return {
      state: run.rows[0]?.state ?? 'not there',
      reason: run.rows[0]?.reason ?? null,
      calls: calls.rows,
      scopes: scopes.rows,
      outcomes: Object.fromEntries(outcomes.rows.map(({ outcome, count }) => [outcome, count])),
    };
  });

/** Calls that hold a reserve now. */
export const listOpenCalls = (dataDir: string, runId: string): Promise<readonly string[]> =>
  withDatabase(dataDir, async (db) => {
    const { rows } = await db.query<BookedCall>(`${CALLS} and state = 'started'`, [runId]);
    return rows.map(({ call }) => call);
  });

type Judged = {
  readonly books: Books;
  readonly capUsd: number;
  /** What the endpoint has billed. */
  readonly billedUsd: number;
  /** Calls that were open when their worker was dead. */
  readonly openAtKills: readonly string[];
};

const CENT = 1e-9;

/** What the books must never say, one line each. */
export function judgeBooks({ books, capUsd, billedUsd, openAtKills }: Judged): readonly string[] {
  const { calls, scopes } = books;
  const charged = calls.reduce((sum, { chargedUsd }) => sum + (chargedUsd ?? 0), 0);
  const byCall = new Map(calls.map((call) => [call.call, call]));
  const problems: string[] = [];
  const demand = (holds: boolean, text: string): void => void (holds || problems.push(text));
  demand(billedUsd <= capUsd + CENT, `the endpoint billed ${billedUsd} USD, the cap is ${capUsd}`);
  demand(scopes.length === 2, `${scopes.length} reservations instead of those of the run and its model`);
  for (const { scope, spentUsd, reservedUsd, reservedTokens, openCalls } of scopes) {
    demand(
      reservedUsd === 0 && reservedTokens === 0 && openCalls === 0,
      `${scope}: ${reservedUsd} USD, ${reservedTokens} tokens and ${openCalls} calls are still reserved`,
    );
    demand(spentUsd <= capUsd + CENT, `${scope}: ${spentUsd} USD are spent, the cap is ${capUsd}`);
    demand(spentUsd >= billedUsd - CENT, `${scope}: ${spentUsd} USD are booked, ${billedUsd} were billed`);
    demand(Math.abs(spentUsd - charged) < CENT, `${scope}: ${spentUsd} USD spent, the calls say ${charged}`);
  }
  for (const call of calls) {
    demand(call.state !== 'started', `${call.call}: still started`);
    demand(
      call.state !== 'lost' || (call.estimated && call.chargedUsd === call.worstUsd),
      `${call.call}: lost, and charged ${call.chargedUsd} USD, not its worst case ${call.worstUsd}`,
    );
  }
  for (const call of openAtKills) {
    // A statement that the worker had sent may have been carried out after its end.
    const state = byCall.get(call)?.state ?? 'gone';
    demand(['lost', 'completed', 'failed'].includes(state), `${call}: open at a kill, and then ${state}`);
  }
  return problems;
}
