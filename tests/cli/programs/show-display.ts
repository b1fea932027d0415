import { setTimeout as sleep } from 'node:timers/promises';
import { createRunDisplay } from '../../../src/cli/display/run-display.ts';
import type { RunProgress } from '../../../src/client/progress.ts';
import { readSettings } from '../../../src/config/environment-variables.ts';

/**
 * `node show-display.ts MODELS`: shows a run of so many models on standard error as a command does. At half of it
 * nothing changes until standard input says `go on`.
 */
const models = Number(process.argv[2] ?? '3');
const settings = readSettings();
const display = createRunDisplay(process.stderr, {
  ...settings,
  noColor: settings.noColor || process.argv.includes('--no-color'),
});

const PLANNED = 10;
const NAMES = ['plain', '模型模型模型模型', '👩‍👩‍👧 family', 'a-model-with-a-rather-long-name-that-is-cut'];

const toProgress = (done: number, state: RunProgress['state'] = 'running'): RunProgress => ({
  runId: 'nightly-20260301-7fk2',
  state,
  reason: null,
  generation: 1,
  missingKeys: [],
  asked: [],
  budget: { spentUsd: done / 100, capUsd: 2, spentTokens: 0, capTokens: null },
  // The time that it took stands still, so that half way nothing is drawn again.
  startedAt: '2026-03-01T10:00:00.000Z',
  finishedAt: '2026-03-01T10:00:05.000Z',
  engines: [
    {
      engineId: 'one',
      kind: 'openai',
      baseUrl: 'https://api.example.com/v1',
      apiKeyEnv: null,
      concurrency: 'auto',
      slots: null,
      requestsPerMinute: null,
      tokensPerMinute: null,
      inFlight: done % 3,
      waitingForRate: done % 2,
      nextStartMs: 2_000,
      waitingForRetry: 0,
      pausedUntil: done % 4 === 0 ? new Date().toISOString() : null,
      pauseReason: 'busy',
      trip: null,
    },
  ],
  rows: Array.from({ length: models }, (_, index) => ({
    requestIndex: 0,
    requestName: 'tickets',
    modelId: `${NAMES[index % NAMES.length]} ${index}`,
    planned: PLANNED,
    done,
    scored: done,
    pass: done,
    meanScore: 1,
    errors: index % 2,
    unscored: 0,
    notRun: 0,
    skipped: 0,
    costUsd: done / 1_000,
    inFlight: 1,
    waiting: 0,
  })),
});

display.show({ ...toProgress(0, 'preparing'), rows: [], engines: [] });
await sleep(250);
for (let done = 0; done <= PLANNED; done += 1) {
  display.show(toProgress(done));
  await sleep(220);
  if (done === PLANNED / 2) await new Promise((resolve) => process.stdin.once('data', resolve));
}
display.show(toProgress(PLANNED, 'completed'));
display.close();
process.exit();
