import picocolors from 'picocolors';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { formatPlainLine, isLineDue } from '../../src/cli/display/plain-lines.ts';
import { formatProgressTable, type ProgressView } from '../../src/cli/display/progress-table.ts';
import { addSample, estimateRemainingMs, type DoneSample } from '../../src/cli/display/remaining-time.ts';
import { fitEnd, fitMiddle } from '../../src/cli/display/text-width.ts';
import type { RunProgress } from '../../src/client/progress.ts';
import type { ProgressRow } from '../../src/store/progress.ts';

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

const progress = (rows: readonly ProgressRow[]): RunProgress => ({
  runId: 'support-bot-20260301-7fk2',
  state: 'running',
  reason: null,
  generation: 1,
  missingKeys: [],
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

test.each([40, 60, 80, 100, 200])('the live display fits a terminal of %i columns', (width) => {
  const text = formatProgressTable(view([row, ...rows.slice(0, 3)]), { width, height: 24, colors: plain });
  for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThan(width);
  expect(text).toContain('40/75');
});

test('the live display keeps its height, and shows what has work left when the screen is too small', () => {
  const text = formatProgressTable(view(rows), { width: 100, height: 12, colors: plain });
  const again = formatProgressTable(view(rows.map((one) => ({ ...one, done: 75 }))), {
    width: 100,
    height: 12,
    colors: plain,
  });
  expect(text.split('\n').length).toBeLessThan(12);
  expect(again.split('\n')).toHaveLength(text.split('\n').length);
  expect(text).toContain('name-30');
  expect(text).not.toContain('name-0 ');
  expect(text).toContain('and 33 more');
});

test('a notice of several lines takes one', () => {
  const notice = 'first\nsecond';
  const text = formatProgressTable({ ...view([row]), notice }, { width: 100, height: 24, colors: plain });
  expect(text.split('\n')).toHaveLength(4);
  expect(text).toContain('first second');
});

test('the live display has no colour when there is to be none', () => {
  const text = formatProgressTable(view([row]), { width: 100, height: 24, colors: plain });
  expect(text).not.toContain('\u001B');
  const colored = formatProgressTable(view([row]), {
    width: 100,
    height: 24,
    colors: picocolors.createColors(true),
  });
  expect(colored).toContain('\u001B');
});

test('an unknown cost is a question mark, never 0', () => {
  const text = formatProgressTable(view([{ ...row, costUsd: null }]), {
    width: 100,
    height: 24,
    colors: plain,
  });
  expect(text).toContain('$?');
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
