import { expect, test } from 'vitest';
import { toTimeline } from '../../src/client/attempt-timeline.ts';
import { formatAttempt } from '../../src/cli/format-attempt.ts';
import type { NamedAttempt } from '../../src/cli/show-case.ts';
import { parseStepRange, toEarlierPage, toStepWindow } from '../../src/cli/step-window.ts';
import type { OutcomeKind } from '../../src/domain/outcome.ts';
import { answers, at, buildShown, call, failedCall, says, score, session, tool } from './attempt-rows.ts';

const ended = (
  kind: Exclude<OutcomeKind, 'scored'>,
  code: string,
  message: string,
): NamedAttempt['outcome'] => ({
  kind,
  reason: { code, phase: kind === 'unscored' ? 'evaluate' : 'run', message },
  limit: null,
});

const throttled = { failureClass: 'throttled', failureMessage: '429 Too many requests' };

/** An agent that waits, is throttled, uses a tool that fails, and is wrong. */
const wrongAgent = buildShown(
  {
    outcome: { kind: 'scored', score: 0.5, pass: false, limit: { kind: 'steps', limit: 3, measured: 3 } },
    scores: [
      score('includes', { explanation: 'found "refund"' }),
      score('command', { value: 0, pass: false, explanation: '2 of 3 tests failed' }),
    ],
    sessions: [session(0, { closedAt: at(38_750) })],
    calls: [
      call(1_300, { waitedMs: 1_050, finishReason: 'tool_calls' }),
      failedCall(2_700, { step: 2, ...throttled }),
      call(4_800, { step: 2, requestNumber: 2, waitedMs: 2_010, finishReason: 'tool_calls' }),
      call(36_200, { step: 3, finishReason: 'stop' }),
      call(37_500, { purpose: 'judge/tone/1', costUsd: 0.01 }),
    ],
    toolCalls: [
      tool(2_510),
      tool(6_010, { step: 2, status: 'timeout', completedAt: at(36_010), repaired: true }),
    ],
    steps: [1, 2, 3, 4, 5].map((sequence) => ({
      tryNumber: 1,
      sequence,
      role: sequence % 2 === 1 ? 'assistant' : 'tool',
      digest: 'd',
    })),
    analyses: [{ analyzer: 'loops', summary: 'no loop', facts: {}, error: null }],
  },
  {
    transcript: [
      says('I look the order up.', 'cat orders/7.json'),
      answers('{"total": 12}'),
      says('', 'sleep 100'),
      answers('bash did not end within 30 s', 'timeout'),
      says('Yes, a refund is due.'),
    ],
  },
);

test('an attempt of an agent reads as a timeline with waits, retries, tools, cost and its fault, then the transcript', async () => {
  await expect(formatAttempt(wrongAgent)).toMatchFileSnapshot('expected/attempt-agent.txt');
});

test('the sums of a timeline are those of its rows', () => {
  const timeline = toTimeline(wrongAgent.attempt);
  expect(timeline).toMatchObject({
    steps: 3,
    modelCalls: 5,
    toolCalls: 2,
    modelMs: 4 * 1_200 + 90,
    toolMs: 150 + 30_000,
    waitedMs: 1_050 + 2_010 + 3 * 3,
    tookMs: 38_750,
    fault: 'command: 2 of 3 tests failed',
  });
  expect(timeline.costUsd).toBeCloseTo(3 * 0.0021 + 0.01);
  expect(timeline.events.map(({ isFault }) => isFault)).not.toContain(true);
});

const unknownCall = failedCall(1_000, { state: 'lost', estimated: true, costUsd: 0.5, failureMessage: null });

/** How an attempt can end without a pass. */
const ENDS: readonly (readonly [string, Partial<NamedAttempt>])[] = [
  [
    'wrong',
    {
      outcome: { kind: 'scored', score: 0, pass: false, limit: null },
      calls: [call(0)],
      scores: [score('exact', { value: 0, pass: false, explanation: 'expected "yes", got "no"' })],
    },
  ],
  [
    'error',
    {
      outcome: ended('error', 'bad_request', '400 the prompt is refused'),
      calls: [failedCall(0, { failureClass: 'bad_request', failureMessage: '400 the prompt is refused' })],
    },
  ],
  [
    'infra before it ran',
    {
      outcome: ended('infra', 'spawn_failed', 'bwrap was not found: install bubblewrap'),
      tryNumber: 2,
      sessions: [
        session(0, { openedAt: null, closedAt: at(90) }),
        session(5_000, { tryNumber: 2, openedAt: null, closedAt: at(5_100) }),
      ],
      tries: [
        {
          tryNumber: 1,
          late: false,
          stage: 'open',
          scope: 'attempt',
          pattern: null,
          error: 'bwrap was not found',
          endedAt: at(100),
        },
      ],
    },
  ],
  [
    'infra after retries',
    {
      outcome: ended('infra', 'connection', 'connection refused at 127.0.0.1:8080: is the server up?'),
      calls: [
        failedCall(0, { failureClass: 'connection', failureMessage: 'connection refused' }),
        failedCall(1_500, {
          requestNumber: 2,
          waitedMs: 1_400,
          failureClass: 'connection',
          failureMessage: 'connection refused',
        }),
      ],
    },
  ],
  [
    'interrupted',
    { outcome: ended('interrupted', 'worker_lost', 'its worker was lost in step 2'), calls: [unknownCall] },
  ],
  [
    'refused',
    {
      outcome: ended(
        'refused',
        'unknown_outcome',
        'bash may have run: assay resolve r-7f3k 1 done|rerun|skip',
      ),
      calls: [call(0, { finishReason: 'tool_calls' })],
      toolCalls: [
        tool(1_300, {
          state: 'started',
          status: null,
          completedAt: null,
          askedAt: at(2_000),
          resolution: 'expired',
        }),
      ],
    },
  ],
  [
    'unscored',
    {
      outcome: ended('unscored', 'judge_unreadable', 'judge quality gave no verdict twice'),
      calls: [
        call(0),
        failedCall(1_300, {
          purpose: 'judge/quality/1',
          failureClass: 'unreadable',
          failureMessage: 'no verdict in the answer',
        }),
      ],
      scores: [
        {
          scorer: 'quality',
          kind: 'judge',
          weight: 1,
          required: true,
          verdict: { kind: 'unscored', code: 'judge_unreadable', explanation: 'no verdict twice' },
        },
      ],
    },
  ],
  ['skipped', { outcome: ended('skipped', 'credential', 'environment variable KEY is not set') }],
  [
    'not run',
    { outcome: ended('not_run', 'budget', 'the run cap of 2 USD was reached: resume with a larger budget') },
  ],
  [
    'still running',
    {
      calls: [
        call(0, {
          state: 'started',
          inputTokens: null,
          outputTokens: null,
          costUsd: null,
          latencyMs: null,
          finishedAt: null,
          finishReason: null,
        }),
      ],
    },
  ],
];

test('every way in which an attempt fails says what ended it and where', async () => {
  const texts = ENDS.map(
    ([name, attempt]) =>
      `=== ${name}\n${formatAttempt(buildShown(attempt, { window: { from: 1, to: 1, total: 1 } }))}\n`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('expected/attempt-ends.txt');
  for (const [name, attempt] of ENDS.slice(0, -1)) {
    const { fault, events } = toTimeline(buildShown(attempt).attempt);
    expect({ name, fault }).not.toEqual({ name, fault: null });
    expect(events.filter(({ isFault }) => isFault).length).toBe(/wrong|skipped|not run/.test(name) ? 0 : 1);
  }
});

test('an attempt of ten thousand steps is one page of forty, the last unless another is asked for', () => {
  const steps = 10_000;
  const calls = Array.from({ length: steps }, (_, index) => call(index * 10, { step: index + 1 }));
  const toolCalls = Array.from({ length: steps }, (_, index) => tool(index * 10 + 5, { step: index + 1 }));
  const window = toStepWindow(steps, undefined);
  expect(window).toEqual({ from: 9_961, to: 10_000, total: 10_000 });
  expect(toEarlierPage(window)).toEqual({ from: 9_921, to: 9_960 });
  expect(toEarlierPage(toStepWindow(steps, { from: 1, to: 40 }))).toBeNull();
  const text = formatAttempt(buildShown({ calls, toolCalls, outcome: null }, { window }));
  expect(text).toContain('steps 9961 to 10000 of 10000; others with --steps FROM-TO');
  expect(text.split('\n').length).toBeLessThan(120);
  expect(text).toMatch(/ 9961 +model/);
  expect(text).not.toMatch(/ 9960 +model/);
});

test('steps are asked for as one or as a range, and nothing else', () => {
  expect(parseStepRange('7')).toEqual({ from: 7, to: 7 });
  expect(parseStepRange('11-40')).toEqual({ from: 11, to: 40 });
  for (const text of ['', '0', '0-4', '4-3', 'a', '1-', '-2', '1.5', '1-2-3'])
    expect(() => parseStepRange(text)).toThrow('Give one step');
});
