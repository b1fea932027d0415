import { expect, test } from 'vitest';
import { recommendWidth } from '../../bench/widths/recommend-width.ts';
import { toPoints, type WidthPoint, type WidthRun } from '../../bench/widths/width-points.ts';
import type { Width } from '../../bench/widths/works.ts';

const point = (width: Width, medianSeconds: number, rates: Partial<WidthPoint> = {}): WidthPoint => ({
  width,
  repeats: 1,
  medianSeconds,
  lowSeconds: medianSeconds,
  highSeconds: medianSeconds,
  errorRate: 0,
  retryRate: 0,
  cells: 33,
  requests: 33,
  costUsd: null,
  ...rates,
});

const run = (seconds: number, change: Partial<WidthRun> = {}): WidthRun => ({
  width: 4,
  seconds,
  cells: 10,
  unscored: 0,
  requests: 10,
  failedRequests: 0,
  costUsd: 0.01,
  ...change,
});

test('the recommended width is the smallest one within a tenth of the best', () => {
  const points = [point(1, 40), point(2, 20), point(4, 10.9), point(8, 10), point(16, 11.5)];
  expect(recommendWidth([{ suite: 'light', points }])).toEqual({ width: 4, best: 8, refused: [] });
});

test('a width at which the provider throttles is out, however quick, and the reason is told', () => {
  const points = [point(4, 10), point(8, 6, { retryRate: 0.06 }), point(16, 5, { errorRate: 0.02 })];
  expect(recommendWidth([{ suite: 'light', points }])).toEqual({
    width: 4,
    best: 4,
    refused: [
      { width: 8, reason: 'light: 6.0 % of the requests were refused or failed' },
      { width: 16, reason: 'light: 2.0 % of the cells have no score' },
    ],
  });
});

test('rates at their limits are kept', () => {
  const points = [point(8, 6, { retryRate: 0.05, errorRate: 0.01 })];
  expect(recommendWidth([{ suite: 'light', points }]).width).toBe(8);
});

test('several suites are judged as one: medians are added, each keeps its rates, and none may be missing', () => {
  const light = [point(4, 5), point(8, 4), point(16, 4, { retryRate: 0.2 }), point(32, 3)];
  const heavy = [point(4, 20), point(8, 10), point(16, 9)];
  expect(
    recommendWidth([
      { suite: 'light', points: light },
      { suite: 'tool-heavy', points: heavy },
    ]),
  ).toEqual({
    width: 8,
    best: 8,
    refused: [
      { width: 16, reason: 'light: 20.0 % of the requests were refused or failed' },
      { width: 32, reason: 'tool-heavy was not run at it' },
    ],
  });
});

test('without a width that keeps the rates nothing is recommended, and auto is no candidate', () => {
  const points = [point(1, 5, { errorRate: 1 }), point('auto', 1)];
  expect(recommendWidth([{ suite: 'light', points }])).toMatchObject({ width: null, best: null });
});

test('FE-14 a point holds the median and spread of its repeats, its rates over all of them and the mean cost', () => {
  const runs = [run(3, { unscored: 1 }), run(1), run(2, { requests: 20, failedRequests: 10, costUsd: 0.04 })];
  expect(toPoints([...runs, run(7, { width: 8, costUsd: null })])).toEqual([
    {
      width: 4,
      repeats: 3,
      medianSeconds: 2,
      lowSeconds: 1,
      highSeconds: 3,
      errorRate: 1 / 30,
      retryRate: 10 / 40,
      cells: 30,
      requests: 40,
      costUsd: expect.closeTo(0.02) as number,
    },
    expect.objectContaining({ width: 8, repeats: 1, costUsd: null }),
  ]);
  expect(toPoints([run(1), run(2)])[0]?.medianSeconds).toBe(1.5);
});
