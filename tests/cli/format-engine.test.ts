import { expect, test } from 'vitest';
import { formatEngine } from '../../src/cli/format-engine.ts';

const engine = {
  engineId: 'openai-x',
  concurrency: 'auto',
  slots: [],
  requestsPerMinute: null,
  tokensPerMinute: null,
  waiting: 0,
  pausedUntil: null,
  pauseReason: null,
  trip: null,
};

test('an engine says its slots, its rates, who waits, and until when it is paused and why', () => {
  expect(formatEngine(engine)).toBe('Engine openai-x: slots auto (20 at first)');
  expect(formatEngine({ ...engine, concurrency: '8' })).toBe('Engine openai-x: 8 slots a worker');
  const busy = { ...engine, slots: [16, 21], requestsPerMinute: 600, tokensPerMinute: 9_000, waiting: 1 };
  expect(
    formatEngine({ ...busy, pausedUntil: '2026-01-02T03:04:05Z', pauseReason: 'come back later' }),
  ).toMatch(
    /^Engine openai-x: slots auto \(now 16 \+ 21\), 600 requests a minute, 9000 tokens a minute, 1 call waiting for them, paused until .+: come back later$/,
  );
});
