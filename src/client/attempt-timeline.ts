import { findFault } from '../domain/fault.ts';
import type { AttemptDetail, CallDetail, SessionDetail, ToolCallDetail } from '../store/attempt-detail.ts';

/** Something that took time, or an end: what an attempt did, as its rows say. */
export type TimelineEvent = {
  /** ISO 8601. */
  readonly at: string;
  readonly kind: 'opened' | 'closed' | 'agent' | 'model' | 'tool' | 'try';
  readonly tryNumber: number;
  /** Null = belongs to no step. */
  readonly step: number | null;
  /** Of a model its purpose, of a tool its name, of a session its kind. */
  readonly name: string;
  /** Which request of a call, which call of an answer; null where there is one only. */
  readonly index: number | null;
  readonly waitedMs: number | null;
  /** Null = it has not ended, or nobody measured it. */
  readonly tookMs: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Null = unknown, or nothing that costs. */
  readonly costUsd: number | null;
  /** The cost is a worst case. */
  readonly estimated: boolean;
  /** It bought nothing, so that its cost and tokens are no question: it failed before an answer, or still runs. */
  readonly isFree: boolean;
  /** How it ended, in words of the store. */
  readonly state: string;
  /** What more is known of its end. */
  readonly note: string | null;
  /** It did not do what it was asked to. */
  readonly failed: boolean;
  /** What ended the attempt without a score: at most one event is. */
  readonly isFault: boolean;
};

export type Timeline = {
  readonly events: readonly TimelineEvent[];
  readonly steps: number;
  /** From the first event to the end of the last. */
  readonly tookMs: number;
  readonly modelMs: number;
  readonly toolMs: number;
  readonly waitedMs: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** What was paid or is charged; null as soon as one call's is unknown. */
  readonly costUsd: number | null;
  /** What failed the attempt, in words; null = it passed, or has not ended. */
  readonly fault: string | null;
};

/** What an attempt did, in order of time. */
export function toTimeline(attempt: AttemptDetail): Timeline {
  const events = [
    ...attempt.sessions.flatMap(toSessionEvents),
    ...attempt.agents.map(toAgentEvent),
    ...attempt.calls.filter(({ purpose }) => purpose !== 'command').map(toCallEvent),
    ...attempt.toolCalls.map(toToolEvent),
    ...attempt.tries.map(toTryEvent),
  ].toSorted(compareEvents);
  const models = events.filter(({ kind }) => kind === 'model');
  const tools = events.filter(({ kind }) => kind === 'tool');
  return {
    events: markFault(events, attempt),
    steps: countSteps(attempt),
    tookMs: toSpan(events),
    modelMs: sum(models.map(({ tookMs }) => tookMs)),
    toolMs: sum(tools.map(({ tookMs }) => tookMs)),
    waitedMs: sum(events.map(({ waitedMs }) => waitedMs)),
    modelCalls: models.length,
    toolCalls: tools.length,
    costUsd: toCost(attempt),
    fault: describeFault(attempt),
  };
}

/** Answers of the agent in its longest try. */
export function countSteps({ calls, toolCalls, steps }: AttemptDetail): number {
  let last = 0;
  for (const { step, purpose } of calls) if (purpose === 'agent') last = Math.max(last, step);
  for (const { step } of toolCalls) last = Math.max(last, step);
  const answers = Map.groupBy(
    steps.filter(({ role }) => role === 'assistant'),
    ({ tryNumber }) => tryNumber,
  );
  return Math.max(last, ...[...answers.values()].map(({ length }) => length));
}

const EMPTY = {
  step: null,
  index: null,
  waitedMs: null,
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  estimated: false,
  isFree: true,
  note: null,
  failed: false,
  isFault: false,
} as const;

function toSessionEvents(session: SessionDetail): readonly TimelineEvent[] {
  const { tryNumber, purpose, kind, hostId, state, createdAt, openedAt, closedAt } = session;
  const facts = { ...EMPTY, tryNumber, name: `${kind} (${purpose})` };
  const opened: TimelineEvent = {
    ...facts,
    kind: 'opened',
    at: createdAt,
    tookMs: toMs(createdAt, openedAt),
    state: openedAt === null ? (state === 'closed' ? 'never open' : 'being opened') : 'open',
    note: `host ${hostId}`,
    failed: openedAt === null && state === 'closed',
  };
  if (closedAt === null || openedAt === null) return [opened];
  return [opened, { ...facts, kind: 'closed', at: closedAt, tookMs: null, state: 'closed' }];
}

const toAgentEvent = ({
  tryNumber,
  state,
  run,
  startedAt,
  finishedAt,
}: AttemptDetail['agents'][number]): TimelineEvent => ({
  ...EMPTY,
  kind: 'agent',
  at: startedAt,
  tryNumber,
  name: 'command',
  tookMs: run?.durationMs ?? toMs(startedAt, finishedAt),
  state,
  note:
    run === null ? null : run.timedOut ? 'its time limit' : `exit code ${run.exitCode ?? run.signal ?? '?'}`,
  failed: state === 'lost' || (run !== null && (run.timedOut || run.exitCode !== 0)),
});

const toCallEvent = (call: CallDetail): TimelineEvent => ({
  ...EMPTY,
  kind: 'model',
  at: call.startedAt,
  tryNumber: call.tryNumber,
  step: call.purpose === 'agent' ? call.step : null,
  name: call.purpose,
  index: call.requestNumber > 1 ? call.requestNumber : null,
  waitedMs: call.waitedMs,
  tookMs: call.latencyMs ?? toMs(call.startedAt, call.finishedAt),
  inputTokens: call.inputTokens,
  outputTokens: call.outputTokens,
  costUsd: call.costUsd,
  estimated: call.estimated,
  isFree: isFree(call),
  state: call.state,
  note:
    call.failureMessage === null
      ? call.finishReason
      : [call.failureClass, call.failureMessage].filter((part) => part !== null).join(': '),
  failed: call.state === 'failed' || call.state === 'lost',
});

const isFree = ({ state, estimated, costUsd, inputTokens, outputTokens }: CallDetail): boolean =>
  (state === 'failed' || state === 'started') &&
  !estimated &&
  costUsd === null &&
  (inputTokens ?? 0) + (outputTokens ?? 0) === 0;

const toToolEvent = (call: ToolCallDetail): TimelineEvent => ({
  ...EMPTY,
  kind: 'tool',
  at: call.startedAt,
  tryNumber: call.tryNumber,
  step: call.step,
  name: call.tool,
  index: call.call,
  tookMs: toMs(call.startedAt, call.completedAt),
  state: call.state === 'started' ? 'unknown' : (call.status ?? call.state),
  note: describeTool(call),
  failed: call.state === 'started' || call.status !== 'success',
});

function describeTool({ executions, repaired, askedAt, resolution }: ToolCallDetail): string | null {
  const notes = [
    executions > 1 ? `ran ${executions} times` : null,
    repaired ? 'arguments repaired' : null,
    resolution !== null ? `resolved: ${resolution}` : askedAt !== null ? 'a person is asked' : null,
  ].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join(', ');
}

const toTryEvent = ({
  tryNumber,
  late,
  stage,
  scope,
  error,
  endedAt,
}: AttemptDetail['tries'][number]): TimelineEvent => ({
  ...EMPTY,
  kind: 'try',
  at: endedAt,
  tryNumber,
  name: late ? 'came after the end of the run' : `failed in ${stage ?? 'an unknown stage'}`,
  tookMs: null,
  state: late ? 'late' : scope === 'grading' ? 'graded again' : 'run again',
  note: error,
  failed: !late,
});

const KINDS: readonly TimelineEvent['kind'][] = ['opened', 'agent', 'model', 'tool', 'closed', 'try'];

/** By time; rows of one moment by try and step. */
function compareEvents(a: TimelineEvent, b: TimelineEvent): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  const byPlace = a.tryNumber - b.tryNumber || (a.step ?? 0) - (b.step ?? 0);
  return byPlace || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.index ?? 0) - (b.index ?? 0);
}

/** Without a score, the last thing of the latest try that failed is what ended it. */
function markFault(
  events: readonly TimelineEvent[],
  { outcome, tryNumber }: AttemptDetail,
): readonly TimelineEvent[] {
  if (outcome === null || outcome.kind === 'scored') return events;
  const wanted = outcome.kind === 'unscored' ? 'judge/' : '';
  const place = events.findLastIndex(
    (event) =>
      event.failed && event.kind !== 'try' && event.tryNumber === tryNumber && event.name.startsWith(wanted),
  );
  return events.map((event, index) => (index === place ? { ...event, isFault: true } : event));
}

/** The one fault, as reports name it: a scorer's of what has a score, else the reason. */
function describeFault({ outcome, scores }: AttemptDetail): string | null {
  if (outcome === null) return null;
  if (outcome.kind !== 'scored') return outcome.reason.message;
  if (outcome.pass) return null;
  const fault = findFault(scores);
  return fault === null ? 'did not pass' : `${fault.scorer}: ${fault.verdict.explanation}`;
}

function toCost({ calls }: AttemptDetail): number | null {
  const costs = calls.filter((call) => !isFree(call)).map(({ costUsd }) => costUsd);
  return costs.some((cost) => cost === null) ? null : sum(costs);
}

function toSpan(events: readonly TimelineEvent[]): number {
  let endMs = Number.NEGATIVE_INFINITY;
  let startMs = Number.POSITIVE_INFINITY;
  for (const { at, tookMs, waitedMs } of events) {
    startMs = Math.min(startMs, Date.parse(at) - (waitedMs ?? 0));
    endMs = Math.max(endMs, Date.parse(at) + (tookMs ?? 0));
  }
  return events.length === 0 ? 0 : endMs - startMs;
}

const toMs = (from: string, to: string | null): number | null =>
  to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from));

const sum = (values: readonly (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);
