import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  correctTokens,
  EMPTY_LINE,
  lookStart,
  takeStart,
  type RateLine,
  type Rates,
} from '../../src/domain/rate-line.ts';

type Start = {
  readonly runId: string;
  readonly atMs: number;
  readonly tokens: number;
  readonly looks: number;
};

/** Runs whose calls come back when they are told to, each up to `lateMs` late, until `untilMs`. */
function simulate(
  rates: Rates,
  runs: readonly {
    readonly runId: string;
    readonly places: number;
    readonly fromMs?: number;
    readonly calls?: number;
  }[],
  {
    untilMs,
    lateMs,
    tokens = 10,
    random = () => 0.5,
  }: {
    readonly untilMs: number;
    readonly lateMs: number;
    readonly tokens?: number;
    readonly random?: () => number;
  },
): { readonly starts: Start[]; readonly line: RateLine } {
  let line = EMPTY_LINE;
  const starts: Start[] = [];
  const left = new Map(runs.map(({ runId, places, calls = Infinity }) => [runId, calls - places]));
  let number = 0;
  const fresh = (runId: string, atMs: number) => ({
    runId,
    call: `${runId}/${(number += 1)}`,
    atMs,
    looks: 1,
  });
  const waiting = runs.flatMap(({ runId, places, fromMs = 0 }) =>
    Array.from({ length: places }, () => fresh(runId, 1e6 + fromMs)),
  );
  for (;;) {
    const next = waiting.reduce(
      (first, one, index) => (one.atMs < (waiting[first]?.atMs ?? Infinity) ? index : first),
      0,
    );
    const [one] = waiting.splice(next, 1);
    if (one === undefined || one.atMs > 1e6 + untilMs) return { starts, line };
    const { call, runId, atMs: nowMs, looks } = one;
    const place = lookStart(line, rates, { call, runId, worstTokens: tokens, nowMs });
    if (place.kind === 'wait') {
      line = place.line;
      waiting.push({ ...one, looks: looks + 1, atMs: place.startMs + random() * lateMs });
      continue;
    }
    line = takeStart(line, rates, { call, runId, worstTokens: tokens, nowMs, tokens: place.tokens });
    starts.push({ runId, atMs: nowMs - 1e6, tokens: place.tokens, looks });
    left.set(runId, (left.get(runId) ?? 0) - 1);
    if ((left.get(runId) ?? 0) >= 0) waiting.push(fresh(runId, nowMs + 20 + random() * 200));
  }
}

/** The most that any 60 s hold, as a provider counts. */
function busiestMinute(starts: readonly Start[], weigh: (start: Start) => number = () => 1): number {
  let most = 0;
  for (const { atMs } of starts) {
    const inside = starts.filter((one) => one.atMs >= atMs && one.atMs < atMs + 60_000);
    most = Math.max(
      most,
      inside.reduce((sum, one) => sum + weigh(one), 0),
    );
  }
  return most;
}

const requests = (requestsPerMinute: number): Rates => ({ requestsPerMinute, tokensPerMinute: null });

test('no minute holds more requests than the limit, however late calls come, and little of it is lost', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(1, 3, 30, 60, 600),
      fc.constantFrom(0, 300, 1_400, 9_000),
      fc.integer({ min: 1, max: 60 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (...[limit, lateMs, places, draws]) => {
        const random = () => draws.next().value;
        const { starts } = simulate(requests(limit), [{ runId: 'a', places }], {
          untilMs: 150_000,
          lateMs,
          random,
        });
        expect(busiestMinute(starts)).toBeLessThanOrEqual(limit);
        // What can be in flight with so many places bounds it, too.
        const isFed = lateMs <= 300 && places >= limit / 10 && limit >= 3;
        expect(starts.length).toBeGreaterThanOrEqual(isFed ? 0.9 * limit * 2.5 - 2 : 1);
      },
    ),
    { numRuns: 40 },
  );
});

test('requests leave one after another, without a burst of the whole minute', () => {
  const { starts } = simulate(requests(600), [{ runId: 'a', places: 50 }], { untilMs: 30_000, lateMs: 0 });
  const gaps = starts.slice(1).map((one, index) => one.atMs - (starts[index]?.atMs ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(100);
  expect(Math.max(...gaps)).toBeLessThan(110);
});

test('a call comes back once, where the line is short', () => {
  const { starts } = simulate(requests(600), [{ runId: 'a', places: 25 }], { untilMs: 20_000, lateMs: 50 });
  expect(Math.max(...starts.map((one) => one.looks))).toBe(2);
});

test('a run of many calls does not starve a run of few that comes later', () => {
  for (const limit of [60, 300]) {
    const { starts } = simulate(
      requests(limit),
      [
        { runId: 'large', places: 128 },
        { runId: 'small', places: 5, fromMs: 60_000, calls: 10 },
      ],
      { untilMs: 150_000, lateMs: 100 },
    );
    const small = starts.filter((one) => one.runId === 'small');
    expect(small).toHaveLength(10);
    // Alone it would take 10 places; it gets at least every fourth.
    const lastMs = Math.max(...small.map((one) => one.atMs)) - 60_000;
    expect(lastMs).toBeLessThan(40 * (62_000 / limit) + 5_000);
    expect(starts.length).toBeGreaterThan(0.9 * limit * 2.5);
  }
});

test('runs that go on side by side get about equal shares, whatever their size', () => {
  const { starts } = simulate(
    requests(200),
    [
      { runId: 'large', places: 60 },
      { runId: 'small', places: 12, fromMs: 5_000 },
    ],
    { untilMs: 100_000, lateMs: 100 },
  );
  const late = starts.filter((one) => one.atMs > 40_000);
  const share = late.filter((one) => one.runId === 'small').length / late.length;
  expect(share).toBeGreaterThan(0.4);
  expect(share).toBeLessThan(0.6);
});

test('no minute holds more tokens than the limit, up to one call of another size', () => {
  for (const tokens of [10, 300, 2_500, 6_000, 20_000]) {
    const rates = { requestsPerMinute: null, tokensPerMinute: 10_000 };
    const { starts } = simulate(rates, [{ runId: 'a', places: 40 }], {
      untilMs: 200_000,
      lateMs: 100,
      tokens,
    });
    expect(starts.length).toBeGreaterThan(1);
    expect(busiestMinute(starts, (one) => one.tokens)).toBeLessThanOrEqual(Math.max(10_000, tokens));
  }
});

test('what was taken too much is given back, and answers teach how much of the bound is used', () => {
  const rates = { requestsPerMinute: null, tokensPerMinute: 10_000 };
  const asking = { call: 'a', runId: 'r', worstTokens: 1_000, nowMs: 1e6 };
  const taken = takeStart(EMPTY_LINE, rates, { ...asking, tokens: 1_000 });
  expect(taken.tokensAtMs - 1e6).toBeCloseTo((62_000 * 1_000) / 9_000);
  const real = { taken: 1_000, used: 100, worst: 1_000, answered: true };
  const corrected = correctTokens(taken, rates, real);
  expect(corrected.tokensAtMs - 1e6).toBeCloseTo((62_000 * 100) / 9_900);
  expect(corrected).toMatchObject({ tokenShare: expect.closeTo(0.1), tokenSamples: 1 });
  const failed = correctTokens(taken, rates, { ...real, used: 0, answered: false });
  expect(failed).toMatchObject({ tokensAtMs: 1e6, tokenShare: 1, tokenSamples: 0 });
  expect(lookStart({ ...corrected, tokensAtMs: 0 }, rates, asking)).toEqual({ kind: 'start', tokens: 100 });
});
