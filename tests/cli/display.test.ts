import picocolors from 'picocolors';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { formatPlainLine, isLineDue } from '../../src/cli/display/plain-lines.ts';
import { formatEngineLine } from '../../src/cli/display/engine-line.ts';
import { formatProgressTable, planRoom } from '../../src/cli/display/progress-table.ts';
import type { ProgressView } from '../../src/cli/display/progress-view.ts';
import { addSample, estimateRemainingMs, type DoneSample } from '../../src/cli/display/remaining-time.ts';
import { fitEnd, fitMiddle } from '../../src/cli/display/text-width.ts';
import type { RunProgress } from '../../src/client/progress.ts';
import type { ProgressRow } from '../../src/store/progress.ts';
import type { EngineLoad } from '../../src/store/run-load.ts';

const row: ProgressRow = {
  requestIndex: 0,
  requestName: 'tickets',
  modelId: 'fast',
  planned: 75,
  done: 40,
  scored: 38,
  pass: 31,
  meanScore: 0.8,
  errors: 1,
  unscored: 1,
  notRun: 0,
  skipped: 0,
  costUsd: 0.2,
  inFlight: 8,
  waiting: 2,
};

const engine: EngineLoad = {
  engineId: 'openai-api-example-com-1',
  kind: 'openai',
  baseUrl: 'https://api.example.com/v1',
  apiKeyEnv: 'A_KEY',
  concurrency: 'auto',
  slots: 12,
  requestsPerMinute: null,
  tokensPerMinute: null,
  inFlight: 8,
  waitingForRate: 0,
  nextStartMs: null,
  waitingForRetry: 0,
  pausedUntil: null,
  pauseReason: null,
  trip: null,
};

const progress = (rows: readonly ProgressRow[]): RunProgress => ({
  runId: 'support-bot-20260301-7fk2',
  state: 'running',
  reason: null,
  generation: 1,
  missingKeys: [],
  engines: [engine],
  budget: null,
  asked: [],
  startedAt: '2026-03-01T10:00:00.000Z',
  finishedAt: null,
  rows,
});

const view = (rows: readonly ProgressRow[]): ProgressView => ({
  progress: progress(rows),
  elapsedMs: 65_000,
  remainingMs: 80_000,
  lineRemainingMs: rows.map(() => 80_000),
  notice: null,
});

const plain = picocolors.createColors(false);
const rows = Array.from({ length: 40 }, (_, index) => ({
  ...row,
  modelId: `a-model-with-a-rather-long-name-${index}`,
  done: index < 30 ? 75 : 40,
}));

/** As the display draws it: the room is that of the view itself. */
function draw(
  shown: ProgressView,
  size: { width?: number; height?: number; colors?: typeof plain } = {},
): string {
  const screen = { width: 100, height: 24, colors: plain, ...size };
  const { progress: at } = shown;
  const room = planRoom({ rows: at.rows.length, engines: at.engines.length }, screen);
  return formatProgressTable(shown, screen, room);
}

test.each([40, 60, 80, 100, 200])('the live display fits a terminal of %i columns', (width) => {
  const text = draw(view([row, ...rows.slice(0, 3)]), { width });
  for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThan(width);
  expect(text).toContain('40/75');
});

test('the live display has a line for each request and model with its figures, and one for the engine', async () => {
  const shown = view([
    row,
    { ...row, requestName: 'mails', modelId: 'slow', done: 0, pass: 0, costUsd: null },
  ]);
  const budget = { spentUsd: 0.41, capUsd: 2, spentTokens: 12_345, capTokens: 100_000 };
  const text = draw({ ...shown, progress: { ...shown.progress, budget }, lineRemainingMs: [80_000, null] });
  await expect(`${text}\n`).toMatchFileSnapshot('expected/display-100.txt');
});

test('more models than lines are summed up in the last one, those with work left shown first', () => {
  const text = draw(view(rows), { height: 12 });
  const again = draw(view(rows.map((one) => ({ ...one, done: 75 }))), { height: 12 });
  expect(text.split('\n')).toHaveLength(11);
  expect(again.split('\n')).toHaveLength(11);
  expect(text).toContain('name-30');
  expect(text).not.toContain('name-0 ');
  // Six are shown; hidden are four with 40 of 75, and thirty that are done.
  expect(text).toMatch(new RegExp(`and 34 more +${4 * 40 + 30 * 75}/${34 * 75}`));
});

test('the height is that of the room, whatever comes and goes', () => {
  const screen = { width: 80, height: 24, colors: plain };
  const room = planRoom({ rows: 5, engines: 2 }, screen);
  const heights = [[], [row], rows.slice(0, 5), rows].map(
    (some) => formatProgressTable(view(some), screen, room).split('\n').length,
  );
  expect(new Set(heights)).toEqual(new Set([3 + 5 + 2]));
});

test.each([
  [{ rows: 40, engines: 1 }, 24],
  [{ rows: 40, engines: 12 }, 10],
  [{ rows: 1, engines: 12 }, 24],
  [{ rows: 40, engines: 3 }, 5],
])('a room for %o on %i lines leaves the cursor its line', (wanted, height) => {
  const room = planRoom(wanted, { height });
  expect(room.rows).toBeGreaterThan(0);
  expect(3 + room.rows + room.engines).toBeLessThan(Math.max(6, height));
});

test.each([
  [{}, 'api.example.com  8 in flight · slots 12 (auto)'],
  [{ concurrency: 4, slots: null } as const, 'api.example.com  8 in flight · slots 4'],
  [
    { waitingForRate: 3, nextStartMs: 4_000, requestsPerMinute: 60, waitingForRetry: 1 },
    'api.example.com  3 wait for the rate, next in 4s · 1 to retry · 8 in flight · slots 12 (auto) · 60 requests/min',
  ],
  [{ baseUrl: null, kind: 'mock', slots: null }, 'mock  8 in flight · slots auto'],
])('the line of an engine with %o', (change, line) => {
  expect(formatEngineLine({ ...engine, ...change }, { width: 120, missingKeys: [] })).toBe(line);
});

test('a paused engine says until when and why, one without its key for what it waits', () => {
  const paused = { ...engine, pausedUntil: '2026-03-01T10:00:00.000Z', pauseReason: 'busy\nnow' };
  expect(formatEngineLine(paused, { width: 120, missingKeys: [] })).toMatch(
    /^api\.example\.com {2}paused until \d\d:\d\d:00 \(busy now\) · 8 in flight/,
  );
  expect(formatEngineLine(engine, { width: 120, missingKeys: ['A_KEY'] })).toContain('waits for A_KEY');
});

test.each([
  [{ state: 'awaiting_approval' } as const, 'assay approve support-bot-20260301-7fk2'],
  [{ state: 'paused' } as const, 'assay unpause support-bot-20260301-7fk2'],
  [{ missingKeys: ['A_KEY'] }, 'export A_KEY=...; assay watch support-bot-20260301-7fk2'],
])('a run that waits says in its last line what to type: %o', (change, command) => {
  const shown = view([row]);
  const text = draw({ ...shown, progress: { ...shown.progress, ...change } }, { width: 80 });
  expect(text.split('\n').at(-1)).toContain(command);
});

test('a run that has ended is not cancelled any more', () => {
  const shown = view([row]);
  const lines = draw({ ...shown, progress: { ...shown.progress, state: 'completed' } }).split('\n');
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toBe('');
});

test('a notice of several lines takes one', () => {
  const text = draw({ ...view([row]), notice: 'first\nsecond' });
  expect(text.split('\n')).toHaveLength(5);
  expect(text).toContain('first second');
});

test('no name can steer the terminal or break a line', () => {
  const text = draw(view([{ ...row, modelId: 'a\n\u001B[2Jb', requestName: '模型\r👩‍👩‍👧' }]));
  expect(text.split('\n')).toHaveLength(5);
  expect(text).not.toContain('\u001B');
});

test('the live display has no colour when there is to be none', () => {
  expect(draw(view([row]))).not.toContain('\u001B');
  expect(draw(view([row]), { colors: picocolors.createColors(true) })).toContain('\u001B');
});

test('an unknown cost is a question mark, never 0, and an unknown time a dash', () => {
  const text = draw({ ...view([{ ...row, costUsd: null }]), lineRemainingMs: [null] });
  expect(text).toContain('$?');
  expect(text).toMatch(/ - *$/m);
});

test('a plain line says what has happened', () => {
  expect(formatPlainLine(progress([row]), 80_000)).toBe(
    'running  40 of 75 cells · 31 passed · 1 error · 1 unscored · $0.20 · 8 in flight · 2 waiting · about 1m 20s left',
  );
  expect(formatPlainLine({ ...progress([]), state: 'preparing' }, null)).toBe('preparing');
});

const printed = { atMs: 0, text: 'a', state: 'running' };
const next = { nowMs: 0, text: 'b', state: 'running', last: false };

test.each([
  ['figures after a second', { nowMs: 1_500 }, false],
  ['figures after two seconds', { nowMs: 2_000 }, true],
  ['nothing new', { nowMs: 60_000, text: 'a' }, false],
  ['a new state within a second', { nowMs: 500, state: 'finalizing' }, false],
  ['a new state after a second', { nowMs: 1_000, state: 'finalizing' }, true],
  ['the last line at once', { nowMs: 10, state: 'completed', last: true }, true],
  ['the last line again', { nowMs: 10, text: 'a', last: true }, false],
])('plain lines: %s', (_name, change, due) => {
  expect(isLineDue({ ...next, ...change }, printed)).toBe(due);
  expect(isLineDue({ ...next, ...change }, null)).toBe(true);
});

test('the remaining time follows the pace of the last minute', () => {
  let samples: readonly DoneSample[] = [];
  for (let second = 0; second <= 300; second += 1)
    samples = addSample(samples, { atMs: second * 1000, done: second });
  expect(samples.length).toBeLessThan(70);
  expect(estimateRemainingMs(samples, { atMs: 300_000, remaining: 30 })).toBeCloseTo(30_000, -2);
});

test('a stall lengthens the remaining time, and without a pace there is none', () => {
  const samples = [
    { atMs: 0, done: 0 },
    { atMs: 10_000, done: 10 },
  ];
  expect(estimateRemainingMs(samples, { atMs: 40_000, remaining: 10 })).toBe(40_000);
  expect(estimateRemainingMs([{ atMs: 0, done: 5 }], { atMs: 9_000, remaining: 10 })).toBeNull();
  expect(estimateRemainingMs([], { atMs: 9_000, remaining: 0 })).toBe(0);
});

test('texts are cut by columns, not by code units', () => {
  expect(fitMiddle('anthropic/claude-very-long', 11)).toBe('anthr…-long');
  expect(stringWidth(fitMiddle('模型模型模型模型', 9))).toBeLessThanOrEqual(9);
  expect(fitEnd('abcdef', 4)).toBe('abc…');
  expect(fitMiddle('abc', 0)).toBe('');
});
