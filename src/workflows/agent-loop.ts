import * as workflow from '@temporalio/workflow';
import { checkLimits } from '../domain/agent-limits.ts';
import { toCallPriority } from '../domain/call-priority.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import { toOutputLimit } from '../domain/output-limit.ts';
import type {
  AgentProgress,
  CallModelResult,
  RunToolInput,
  RunToolResult,
  SessionRef,
} from '../domain/step.ts';
import type { AttemptLimits } from '../domain/suite.ts';
import { addKnown } from '../domain/usage.ts';
import { callModel, inProcess, nameTry, onHost } from './activities.ts';
import { untilTaken } from './on-host.ts';
import type { AgentState, TryEnd, TryPlace } from './try.ts';

/** Where a loop begins. */
export const FIRST_STEP: AgentProgress = {
  step: 1,
  sequence: 0,
  tokens: null,
  costUsd: null,
  measuredMs: 0,
  answerDigest: null,
};

export type LoopEnd =
  | { readonly kind: 'over'; readonly end: AgentEnd; readonly answerDigest: string | null }
  | Extract<TryEnd, { kind: 'stopped' | 'held' }>
  | { readonly kind: 'continue'; readonly progress: AgentProgress };

/** Model call, tools, model call ... until a final answer or a limit. */
export async function runLoop(place: TryPlace, start: AgentState): Promise<LoopEnd> {
  const { session, limits } = start;
  let { progress } = start;
  for (;;) {
    const limit = reachedLimit(place, limits, progress);
    if (limit !== null)
      return { kind: 'over', end: { kind: 'ended', limit }, answerDigest: progress.answerDigest };
    if (workflow.workflowInfo().continueAsNewSuggested) return { kind: 'continue', progress };
    const answer = await callModel(
      {
        cell: place.cell,
        tryNumber: place.tryNumber,
        step: progress.step,
        upToSequence: progress.sequence,
        timeLeftMs: timeLeft(limits, progress),
      },
      {
        queue: place.input.run.modelQueues[place.input.modelId] ?? '',
        summary: `${nameTry(place)} · step ${progress.step}`,
        priorityKey: toCallPriority({
          generation: place.cell.generation,
          planned: place.input.request.attempts,
        }),
      },
    );
    if (answer.kind === 'stopped') return { ...answer, spent: progress.step > 1 };
    if (answer.kind === 'held') return { kind: 'held', untilMs: Date.now() + answer.waitMs };
    if (answer.kind === 'ended')
      return { kind: 'over', end: answer.end, answerDigest: progress.answerDigest };
    progress = addAnswer(progress, answer);
    if (answer.toolCalls.length === 0) {
      return {
        kind: 'over',
        end: { kind: 'ended', limit: toOutputLimit(answer) },
        answerDigest: answer.answerDigest,
      };
    }
    const tools = await runTools({ place, session, limits, progress, answer });
    if (tools.kind === 'ended') return { kind: 'over', end: tools.end, answerDigest: tools.answerDigest };
    progress = tools.progress;
  }
}

type ToolTurn = {
  readonly place: TryPlace;
  readonly session: SessionRef | null;
  readonly limits: AttemptLimits;
  readonly progress: AgentProgress;
  readonly answer: Extract<CallModelResult, { kind: 'answered' }>;
};

type ToolsEnd =
  | { readonly kind: 'ended'; readonly end: AgentEnd; readonly answerDigest: string | null }
  | { readonly kind: 'observed'; readonly progress: AgentProgress };

/** The tool calls of one answer, in turn. Every call gets an observation, also past the time limit. */
async function runTools(turn: ToolTurn): Promise<ToolsEnd> {
  const { answer } = turn;
  let { progress } = turn;
  for (const index of answer.toolCalls.keys()) {
    const sequence = progress.sequence + 1;
    const result = await runTool({ ...turn, progress }, index);
    switch (result.kind) {
      case 'ended':
        return { kind: 'ended', end: result.end, answerDigest: progress.answerDigest };
      case 'submitted':
        return { kind: 'ended', end: { kind: 'ended', limit: null }, answerDigest: result.answerDigest };
      case 'observed':
        progress = { ...progress, sequence, measuredMs: progress.measuredMs + result.measuredMs };
    }
  }
  return { kind: 'observed', progress: { ...progress, step: progress.step + 1 } };
}

const ASK_EXPIRY_MS = 24 * 3_600_000;

/** One call, until the ledger has an answer: where nobody knows its outcome, a person is asked. */
async function runTool(
  { place, session, limits, progress, answer }: ToolTurn,
  index: number,
): Promise<Exclude<RunToolResult, { kind: 'asked' }>> {
  const { harness, toolTimesMs = {} } = place.input.request;
  const name = answer.toolCalls[index]?.name ?? '';
  const summary = `step ${progress.step} · ${name}: ${answer.toolCalls[index]?.preview}`;
  const step = { summary, timeoutMs: toolTimesMs[name] ?? 60_000 };
  const where = session === null ? inProcess(step) : onHost(session.hostId, step);
  const input: RunToolInput = {
    cell: place.cell,
    tryNumber: place.tryNumber,
    step: progress.step,
    call: index + 1,
    answerDigest: answer.answerDigest,
    sequence: progress.sequence + 1,
    session,
    timeLeftMs: timeLeft(limits, progress),
  };
  const send = (step: RunToolInput): Promise<RunToolResult> =>
    session === null ? where.runTool(step) : untilTaken(session, { step }, () => where.runTool(step));
  let result = await send(input);
  while (result.kind === 'asked') {
    if (place.desk === undefined) throw new Error('a tool runs where nobody can be asked');
    const expiryMs = (harness.kind === 'agent' ? harness.askExpiryMs : undefined) ?? ASK_EXPIRY_MS;
    const resolution = await place.desk.ask(result.asked, expiryMs);
    result = await send({ ...input, resolution });
  }
  return result;
}

const addAnswer = (progress: AgentProgress, answer: ToolTurn['answer']): AgentProgress => ({
  ...progress,
  sequence: answer.sequence,
  answerDigest: answer.answerDigest,
  tokens: addKnown(progress.tokens, answer.spent.tokens),
  costUsd: addKnown(progress.costUsd, answer.spent.costUsd),
  measuredMs: progress.measuredMs + answer.spent.measuredMs,
});

const reachedLimit = ({ input }: TryPlace, limits: AttemptLimits, progress: AgentProgress) =>
  checkLimits({
    limits,
    steps: progress.step - 1,
    maxSteps: input.request.harness.kind === 'agent' ? input.request.harness.maxSteps : 1,
    tokens: progress.tokens,
    costUsd: progress.costUsd,
    measuredMs: progress.measuredMs,
  });

const timeLeft = ({ attemptTimeMs }: AttemptLimits, progress: AgentProgress): number | null =>
  attemptTimeMs === null ? null : Math.max(0, attemptTimeMs - progress.measuredMs);
