import type { ShownAttempt } from '../../src/cli/format-attempt.ts';
import type { NamedAttempt } from '../../src/cli/show-case.ts';
import type { Score } from '../../src/domain/score.ts';
import type { Message } from '../../src/domain/transcript.ts';
import type { CallDetail, SessionDetail, ToolCallDetail } from '../../src/store/attempt-detail.ts';
import { buildCase } from '../scorers/support.ts';

/** So many milliseconds after noon. */
export const at = (ms: number): string => new Date(Date.UTC(2026, 0, 5, 12) + ms).toISOString();

export const buildShown = (
  attempt: Partial<NamedAttempt>,
  { transcript = [], ...rest }: Partial<Pick<ShownAttempt, 'transcript' | 'window'>> = {},
): ShownAttempt => ({
  attempt: {
    key: { runId: 'r-7f3k', task: 1, attempt: 1, generation: 1 },
    requestName: 'tickets',
    requestIndex: 0,
    modelId: 'fast',
    caseId: 'refund-7',
    tryNumber: 1,
    planned: true,
    origin: null,
    outcome: null,
    planDigest: null,
    answerDigest: null,
    answerPreview: null,
    scores: [],
    calls: [],
    toolCalls: [],
    agents: [],
    steps: [],
    tries: [],
    analyses: [],
    warnings: [],
    sessions: [],
    ...attempt,
  },
  testCase: buildCase({
    id: 'refund-7',
    input: { kind: 'text', text: 'May order 7 be refunded?' },
  }),
  transcript,
  window: { from: 1, to: 3, total: 3 },
  ...rest,
});

export const call = (startMs: number, changes: Partial<CallDetail> = {}): CallDetail => ({
  tryNumber: 1,
  purpose: 'agent',
  step: 1,
  requestNumber: 1,
  state: 'completed',
  inputTokens: 812,
  outputTokens: 40,
  costUsd: 0.0021,
  estimated: false,
  latencyMs: 1_200,
  waitedMs: 3,
  finishReason: 'stop',
  failureClass: null,
  failureMessage: null,
  startedAt: at(startMs),
  finishedAt: at(startMs + 1_200),
  ...changes,
});

/** A request that brought nothing. */
export const failedCall = (startMs: number, changes: Partial<CallDetail> = {}): CallDetail =>
  call(startMs, {
    state: 'failed',
    inputTokens: null,
    outputTokens: null,
    costUsd: null,
    latencyMs: 90,
    finishReason: null,
    finishedAt: at(startMs + 90),
    ...changes,
  });

export const tool = (startMs: number, changes: Partial<ToolCallDetail> = {}): ToolCallDetail => ({
  tryNumber: 1,
  step: 1,
  call: 1,
  tool: 'bash',
  state: 'completed',
  status: 'success',
  outputDigest: null,
  executions: 1,
  repaired: false,
  startedAt: at(startMs),
  completedAt: at(startMs + 150),
  askedAt: null,
  resolution: null,
  ...changes,
});

export const session = (openMs: number, changes: Partial<SessionDetail> = {}): SessionDetail => ({
  tryNumber: 1,
  purpose: 'task',
  kind: 'bubblewrap',
  hostId: 'h1',
  state: 'closed',
  resources: null,
  createdAt: at(openMs),
  openedAt: at(openMs + 210),
  closedAt: at(openMs + 20_000),
  ...changes,
});

export const score = (
  scorer: string,
  verdict: Partial<Extract<Score['verdict'], { kind: 'scored' }>>,
): Score => ({
  scorer,
  kind: scorer,
  weight: 1,
  required: true,
  verdict: { kind: 'scored', value: 1, pass: true, explanation: '', metrics: {}, ...verdict },
});

export const says = (text: string, command?: string): Message => ({
  role: 'assistant',
  text,
  reasoning: null,
  toolCalls:
    command === undefined
      ? []
      : [{ id: '1', name: 'bash', arguments: { kind: 'parsed', value: { command } } }],
});

export const answers = (text: string, status: 'success' | 'error' | 'timeout' = 'success'): Message => ({
  role: 'tool',
  toolCallId: '1',
  toolName: 'bash',
  text,
  status,
});
