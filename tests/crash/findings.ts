import type { EndpointEvent } from './endpoint-process.ts';

/** One row of `model_calls`; `call` is `model/case/step`, times are milliseconds since 1970. */
export type CallRow = {
  readonly call: string;
  readonly requestNumber: number;
  readonly state: 'started' | 'completed' | 'failed' | 'lost' | 'late';
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
};

/** A kill: between two times everything died. The last part was started again then; null when nothing had to be. */
export type Kill = { readonly fromMs: number; readonly toMs: number; readonly restartedAtMs: number | null };

/** What a trial has shown. `problems` says what a run must never do, one line each. */
export type Findings = {
  readonly problems: readonly string[];
  /** Requests for a call whose answer was recorded before. */
  readonly madeAgain: number;
  /** Requests beyond the first of each call. */
  readonly extraRequests: number;
  /** Calls that were in flight at a kill, added up over the kills. */
  readonly inFlight: number;
  /** From the restart to the first request of a call that had not been asked; the longest of the kills. */
  readonly firstNewMs: number | null;
  /** From the restart to the second request of the last call that was cut off; the longest of the kills. */
  readonly cutOffMs: number | null;
};

/** Compares what the endpoint was asked with what the store says about it. */
export function compareWithLog(
  rows: readonly CallRow[],
  events: readonly EndpointEvent[],
  kills: readonly Kill[],
): Findings {
  const asked = Map.groupBy(
    events.filter(({ event }) => event === 'asked'),
    ({ call }) => call,
  );
  const byCall = Map.groupBy(rows, ({ call }) => call);
  const perCall = [...byCall].map(([call, own]) =>
    examineCall({ call, rows: own, askedAtMs: (asked.get(call) ?? []).map(({ atMs }) => atMs), kills }),
  );
  const unknown = [...asked.keys()].filter((call) => !byCall.has(call));
  return {
    problems: [
      ...perCall.flatMap(({ problems }) => problems),
      ...unknown.map((call) => `${call}: asked, but the store has no row of it`),
    ],
    madeAgain: sum(perCall.map(({ madeAgain }) => madeAgain)),
    extraRequests: sum(perCall.map(({ extraRequests }) => extraRequests)),
    inFlight: sum(perCall.map(({ inFlight }) => inFlight)),
    ...measureRestarts(perCall, kills),
  };
}

type Call = {
  readonly call: string;
  readonly rows: readonly CallRow[];
  readonly askedAtMs: readonly number[];
  readonly kills: readonly Kill[];
};

function examineCall({ call, rows, askedAtMs, kills }: Call) {
  const completed = rows.filter(({ state }) => state === 'completed');
  const lost = rows.filter(({ state }) => state === 'lost' || state === 'late');
  const recordedAtMs = completed[0]?.finishedAtMs ?? Infinity;
  const madeAgain = askedAtMs.filter((atMs) => atMs > recordedAtMs).length;
  const extraRequests = Math.max(0, askedAtMs.length - 1);
  const inFlightAt = kills.filter((kill) => rows.some((row) => isOpenAt(row, kill)));
  const problems: string[] = [];
  const complain = (text: string) =>
    problems.push(
      `${call}: ${text} (rows ${rows.map((row) => row.state).join(', ')}; ${askedAtMs.length} requests)`,
    );
  if (completed.length !== 1) complain('not exactly one completed call');
  if (completed.length + lost.length !== rows.length) complain('rows of a state that no kill explains');
  if (askedAtMs.length > rows.length) complain('more requests than rows');
  if (madeAgain > 0) complain('a recorded call was made again');
  if (lost.length > inFlightAt.length)
    complain(`lost more often than it was in flight at a kill (${inFlightAt.length})`);
  return { problems, madeAgain, extraRequests, askedAtMs, inFlight: inFlightAt.length };
}

/** A statement that a worker had sent when it was killed is carried out a little later. */
const LATE_STATEMENT_MS = 2_000;

const isOpenAt = (row: CallRow, kill: Kill): boolean =>
  row.startedAtMs <= kill.toMs + (row.state === 'lost' ? LATE_STATEMENT_MS : 0) &&
  (row.finishedAtMs ?? Infinity) >= kill.fromMs;

function measureRestarts(
  calls: readonly { readonly askedAtMs: readonly number[] }[],
  kills: readonly Kill[],
): Pick<Findings, 'firstNewMs' | 'cutOffMs'> {
  const firstNew: number[] = [];
  const cutOff: number[] = [];
  for (const [index, { toMs, restartedAtMs }] of kills.entries()) {
    if (restartedAtMs === null) continue;
    const untilMs = kills[index + 1]?.fromMs ?? Infinity;
    const firsts = calls.map(({ askedAtMs }) => askedAtMs[0] ?? Infinity);
    const again = calls.flatMap(({ askedAtMs }) => askedAtMs.slice(1));
    const after = (times: readonly number[]) =>
      times
        .filter((time) => time > Math.max(toMs, restartedAtMs) && time < untilMs)
        .map((time) => time - restartedAtMs);
    if (after(firsts).length > 0) firstNew.push(Math.min(...after(firsts)));
    cutOff.push(...after(again));
  }
  return { firstNewMs: longest(firstNew), cutOffMs: longest(cutOff) };
}

const longest = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.round(Math.max(...values));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
