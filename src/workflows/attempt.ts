import * as workflow from '@temporalio/workflow';
import { formatAttemptKey, type Cell } from '../domain/ids.ts';
import type { Reason } from '../domain/outcome.ts';
import { NO_TRIES, planTry, type DiscardedTries } from '../domain/retry-scope.ts';
import { drawFrom } from '../domain/stable-hash.ts';
import type { AttemptResult, Stop } from '../domain/step.ts';
import type { AttemptInput } from '../domain/workflow-brief.ts';
import { inProcess, nameTry, planning } from './activities.ts';
import { gradeFresh } from './grade-fresh.ts';
import { runHeavyTry } from './heavy-try.ts';
import { hearJudges } from './judges.ts';
import { RUN_CHANGED, type RunChanged } from './messages.ts';
import { PauseGate } from './pause-gate.ts';
import { runDirect } from './direct.ts';
import { recordAttempt } from './recorder.ts';
import { toOutcomeAttribute } from './search-attributes.ts';
import { ToolDesk } from './tool-desk.ts';
import type { AgentState, TryEnd, TryPlace } from './try.ts';

/** Where an attempt stands, as it continues as new. */
export type AttemptState = {
  readonly tryNumber: number;
  readonly agent: AgentState | null;
  readonly discarded?: DiscardedTries;
  /** Its run is paused: no further try starts. */
  readonly paused?: boolean;
};

export type AttemptEnd =
  | { readonly kind: 'done'; readonly result: AttemptResult }
  | { readonly kind: 'continue'; readonly state: AttemptState };

/** What people may say to an attempt meanwhile. */
export type AttemptSurroundings = { readonly gate: PauseGate; readonly desk?: ToolDesk };

export const FIRST_TRY: AttemptState = { tryNumber: 1, agent: null };

/**
 * Workflow `attempt`, id `<task id>/a<index>`: one heavy attempt (any, with packing off). Owns the
 * attempt's session through `runAgent`, which closes it in every end; continues as new at the server's
 * suggestion with the session open; its task cancels it.
 */
export async function attempt(
  input: AttemptInput & { readonly state?: AttemptState },
): Promise<AttemptResult> {
  const gate = new PauseGate(input.state?.paused);
  workflow.setHandler(workflow.defineSignal<[RunChanged]>(RUN_CHANGED), (change) => gate.change(change));
  const desk = new ToolDesk();
  desk.handleMessages();
  const end = await runAttempt(input, input.state ?? FIRST_TRY, { gate, desk });
  if (end.kind === 'continue') {
    const state = { ...end.state, paused: gate.isClosed };
    return await workflow.continueAsNew<typeof attempt>({ ...input, state });
  }
  const { outcome } = end.result;
  if (outcome !== null && input.run.searchAttributes && !input.request.light)
    workflow.upsertSearchAttributes(toOutcomeAttribute(outcome));
  return end.result;
}

/**
 * One attempt, from its first call to its recorded outcome, wherever it lives: inside a pack or in a
 * child workflow of its own. Records nothing when the run was stopped: the run settles such cells.
 * An infrastructure failure is tried again, as the request allows; waiting holds nothing.
 */
export async function runAttempt(
  input: AttemptInput,
  state: AttemptState,
  { gate, desk }: AttemptSurroundings,
): Promise<AttemptEnd> {
  const cell = toCell(input);
  let { tryNumber, agent, discarded = NO_TRIES } = state;
  if (input.graded === true) {
    const place = { input, cell, tryNumber };
    const graded = isGradedFresh(place, STORED)
      ? await gradeFresh(place, { over: STORED, tries: { tryNumber, discarded } }, gate)
      : STORED;
    return { kind: 'done', result: await record(input, tryNumber, graded) };
  }
  for (;;) {
    const place = { input, cell, tryNumber, ...(desk === undefined ? {} : { desk }) };
    const tried = await runTry(place, agent);
    if (tried.kind === 'continue')
      return { kind: 'continue', state: { tryNumber, agent: tried.state, discarded } };
    if (tried.kind === 'stopped' && tried.scope === 'run') {
      return { kind: 'done', result: { outcome: null, pass: false, stopped: 'run' } };
    }
    if (tried.kind === 'held') {
      const heldUntilMs = tried.untilMs;
      return { kind: 'done', result: { outcome: null, pass: false, stopped: 'engine', heldUntilMs } };
    }
    if (tried.kind === 'stopped') {
      const stop = { ...tried, spent: tried.spent || discarded.hasEvidence === true };
      return { kind: 'done', result: await recordStop(input, tryNumber, stop) };
    }
    const next = planTry({
      result: { end: tried.end, gradingFailure: tried.gradingFailure ?? null },
      evaluation: input.request.evaluation,
      discarded,
      retries: input.request.retries,
      draw: drawFrom(`${formatAttemptKey(cell)}/t${tryNumber}`, input.run.execution.seed),
    });
    if (next.kind === 'final') {
      const over = isGradedFresh(place, tried)
        ? await gradeFresh(place, { over: tried, tries: { tryNumber, discarded } }, gate)
        : tried;
      return { kind: 'done', result: await record(input, tryNumber, over) };
    }
    const { reason, scope, pattern, delayMs } = next;
    const { spent } = await planning.recordTry({ cell, tryNumber, reason, scope, pattern });
    discarded = spent ? { ...next.discarded, hasEvidence: true } : next.discarded;
    await workflow.sleep(delayMs, { summary: `before try ${tryNumber + 1}` });
    if (gate.isClosed) await gate.pass();
    tryNumber += 1;
    agent = null;
  }
}

/** An attempt whose answer is known: activities read from the store how it ended. */
const STORED = {
  kind: 'over',
  end: { kind: 'ended', limit: null },
  answerDigest: null,
  sessionScoresDigest: null,
} as const;

const isGradedFresh = ({ input }: TryPlace, { end }: Extract<TryEnd, { kind: 'over' }>): boolean =>
  end.kind === 'ended' && input.request.evaluation === 'fresh' && input.request.sessionScorers;

const runTry = (place: TryPlace, agent: AgentState | null): Promise<TryEnd> => {
  const { harness, environmentKind } = place.input.request;
  return harness.kind === 'direct' && environmentKind === 'none'
    ? runDirect(place)
    : runHeavyTry(place, agent);
};

async function record(
  input: AttemptInput,
  tryNumber: number,
  tried: Extract<TryEnd, { kind: 'over' }>,
): Promise<AttemptResult> {
  const { kind: _, ...what } = tried;
  const given = await gradeInProcess(input, tryNumber, tried);
  const judged = await judge(input, tryNumber, tried);
  if (judged === null) return { outcome: null, pass: false, stopped: 'run' };
  const { outcome, pass, frozen } = await recordAttempt({
    cell: toCell(input),
    tryNumber,
    ...what,
    ...given,
    ...judged,
    ...(input.graded === true ? { stored: true } : {}),
  });
  return { outcome, pass, stopped: frozen === null ? null : 'run' };
}

/** Scorers have their own limits. */
const GRADING_MS = 2 * 3_600_000;

/** The scores of the run file's own scorers, where the request has any and the agent ended. */
async function gradeInProcess(
  { request, ...input }: AttemptInput,
  tryNumber: number,
  { end, answerDigest }: Extract<TryEnd, { kind: 'over' }>,
): Promise<{ readonly processScoresDigest?: string }> {
  if (request.processScorers !== true || end.kind === 'failed') return {};
  const cell = toCell({ ...input, request });
  const grading = inProcess({
    summary: `grade · ${nameTry({ cell, tryNumber })}`,
    timeoutMs: GRADING_MS,
  });
  const stored = input.graded === true ? { stored: true as const } : {};
  const { scoresDigest } = await grading.gradeInProcess({ cell, tryNumber, answerDigest, ...stored });
  return { processScoresDigest: scoresDigest };
}

/** What judges say, where the request asks any and the agent ended; null = the run takes no more calls. */
async function judge(
  input: AttemptInput,
  tryNumber: number,
  { end, answerDigest }: Extract<TryEnd, { kind: 'over' }>,
): Promise<{ readonly opinionsDigests?: readonly string[] } | null> {
  if (input.request.judges === undefined || end.kind === 'failed') return {};
  const stored = input.graded === true ? { stored: true as const } : {};
  const { scoreVersion = 1 } = input.run;
  const judging = { cell: toCell(input), tryNumber, answerDigest, scoreVersion, ...stored };
  const opinionsDigests = await hearJudges(input.request, judging);
  return opinionsDigests === null ? null : { opinionsDigests };
}

/**
 * The cap of one model, or its engine's breaker, stops its cells alone; the run goes on, so they are recorded here, as
 * what was done in all their tries shows.
 */
async function recordStop(
  input: AttemptInput,
  tryNumber: number,
  { scope, spent, ...stop }: Extract<TryEnd, { kind: 'stopped' }>,
): Promise<AttemptResult> {
  const began = spent || tryNumber > 1;
  const outcome = spent ? 'interrupted' : began ? 'infra' : 'not_run';
  const end = { kind: 'failed', outcome, reason: toStopReason(input, { scope, ...stop }) } as const;
  const kept = { kind: 'over', end, answerDigest: null, sessionScoresDigest: null } as const;
  return { ...(await record(input, began ? tryNumber : 0, kept)), stopped: scope };
}

function toStopReason({ modelId, run }: AttemptInput, { scope, code, message }: Stop): Reason {
  if (scope !== 'engine') {
    const cap = `budgets.maxModelUsd allows no further call of "${modelId}"; raise it and \`assay resume\``;
    return { code: 'budget', phase: 'run', message: cap };
  }
  const down = `the engine of "${modelId}" is down (${code}); mend it, then \`assay resume ${run.runId}\``;
  return { code: 'engine_down', phase: 'run', message: message ?? down };
}

const toCell = (input: AttemptInput): Cell => ({
  runId: input.run.runId,
  task: input.task,
  attempt: input.attempt,
  generation: input.run.generation,
  requestIndex: input.request.index,
  modelId: input.modelId,
  caseId: input.caseId,
});
