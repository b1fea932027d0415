import fc from 'fast-check';
import { expect, test } from 'vitest';
import { admit } from '../../src/domain/admission.ts';
import type { AdmissionState, Spend } from '../../src/domain/admission-state.ts';
import { createScope } from '../../src/domain/admission-scope.ts';

/** Multiples of a power of two, so that sums of money are exact. */
const UNIT = 1 / 64;

type Plan = {
  readonly cap: number;
  /** Worst and real cost of each call, in units; real null = nobody learns it. */
  readonly calls: readonly { readonly worst: number; readonly real: number | null; readonly fails: number }[];
  readonly width: number;
  /** Which of the calls that are out ends next, and whether its worker is killed instead. */
  readonly draws: readonly { readonly pick: number; readonly kill: boolean }[];
};

const plan: fc.Arbitrary<Plan> = fc.record({
  cap: fc.integer({ min: 1, max: 1_200 }),
  calls: fc.array(
    fc
      .record({
        worst: fc.integer({ min: 1, max: 32 }),
        share: fc.option(fc.nat({ max: 100 })),
        fails: fc.nat(2),
      })
      .map(({ worst, share, fails }) => ({
        worst,
        real: share === null ? null : Math.floor((worst * share) / 100),
        fails,
      })),
    { minLength: 1, maxLength: 120 },
  ),
  width: fc.constantFrom(1, 8, 64),
  draws: fc.array(fc.record({ pick: fc.nat(), kill: fc.boolean() }), { minLength: 20, maxLength: 200 }),
});

const open = (cap: number): AdmissionState => ({
  stop: null,
  onExceed: 'stop',
  runId: 'run',
  pausedUntilMs: {},
  health: {},
  rates: {},
  calls: {},
  scopes: { run: createScope({ capUsd: cap * UNIT, capTokens: null }) },
});

/** What the endpoint itself would bill: every request that it was sent, killed or not. */
type Outcome = { readonly state: AdmissionState; readonly billed: number; readonly granted: number };

/** Many calls at once, as workers would make them: asked, granted, failed and tried again, killed and delivered again. */
function simulate({ cap, calls, width, draws }: Plan): Outcome {
  let state = open(cap);
  let [billed, granted] = [0, 0];
  const waiting = calls.map((_, index) => index);
  const out: { readonly index: number; readonly requestNumber: number }[] = [];
  const failed = new Map<number, number>();
  const ask = (index: number): 'out' | 'wait' | 'over' => {
    const call = calls[index] ?? { worst: 0, real: 0, fails: 0 };
    const worst = { usd: call.worst * UNIT, tokens: call.worst };
    const asked = { call: `c${index}`, modelId: 'm', engineId: 'e', worst, maxRetries: 9, nowMs: 0 };
    const next = admit(state, { kind: 'begin', ...asked });
    state = next.state;
    if (next.answer.kind === 'wait') return 'wait';
    if (next.answer.kind !== 'granted') return 'over';
    granted += 1;
    billed += call.real ?? call.worst;
    out.push({ index, requestNumber: next.answer.requestNumber });
    return 'out';
  };
  for (let turn = 0; turn < 2_000; turn += 1) {
    while (out.length < width && waiting.length > 0) {
      const [index = 0] = waiting;
      if (ask(index) === 'wait') break;
      waiting.shift();
    }
    if (out.length === 0) break;
    const { pick, kill } = draws[turn % draws.length] ?? { pick: 0, kill: false };
    const [one] = out.splice(pick % out.length, 1);
    if (one === undefined) break;
    const call = calls[one.index] ?? { worst: 0, real: 0, fails: 0 };
    // Its worker died, and the server delivers the call again: the row is found started.
    if (kill && turn % 7 === 0) {
      waiting.push(one.index);
      continue;
    }
    const spend: Spend =
      call.real === null ? { kind: 'unknown' } : { kind: 'known', usd: call.real * UNIT, tokens: call.real };
    const end = { call: `c${one.index}`, requestNumber: one.requestNumber, spend };
    const fails = failed.get(one.index) ?? 0;
    if (fails < call.fails) {
      failed.set(one.index, fails + 1);
      state = admit(state, { kind: 'fail', ...end, retryAtMs: 0 }).state;
      waiting.push(one.index);
    } else {
      state = admit(state, { kind: 'complete', ...end, nowMs: 0 }).state;
    }
    const held = state.scopes['run'];
    expect((held?.spentUsd ?? 0) + (held?.reservedUsd ?? 0)).toBeLessThanOrEqual(cap * UNIT);
  }
  const names = Object.keys(state.calls);
  return { state: admit(state, { kind: 'close', calls: names }).state, billed, granted };
}

test('C27 1,000 seeds of up to 64 calls at once, with failures, retries and kills: what is billed never passes the cap', () => {
  fc.assert(
    fc.property(plan, (drawn) => {
      const { state, billed } = simulate(drawn);
      expect(billed).toBeLessThanOrEqual(drawn.cap);
      expect(state.scopes['run']).toMatchObject({ reservedUsd: 0, reservedTokens: 0, openCalls: 0 });
    }),
    { numRuns: 1_000 },
  );
});

test('a run that stays under its cap is never stopped by reserves alone', () => {
  let waited = 0;
  fc.assert(
    fc.property(plan, (drawn) => {
      const calm = { ...drawn, draws: drawn.draws.map((one) => ({ ...one, kill: false })) };
      const total = calm.calls.reduce(
        (sum, { worst, real, fails }) => sum + (real ?? worst) * (fails + 1),
        0,
      );
      const largest = Math.max(...calm.calls.map(({ worst }) => worst));
      // Room for what everything costs and for one worst case beside it: 64 worst cases would not fit.
      const cap = total + largest;
      const { state, granted } = simulate({ ...calm, cap });
      expect(state.stop).toBeNull();
      expect(granted).toBe(calm.calls.reduce((sum, { fails }) => sum + fails + 1, 0));
      if (calm.width * largest > cap) waited += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(waited).toBeGreaterThan(100);
});
