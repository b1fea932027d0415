import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import { bash, begin, loadCells, script, sums } from './support.ts';

/** The case whose session never opens. */
const HUNG = 'sum-3';

let assay: TestAssay;
let hung: string | undefined;
beforeAll(async () => {
  assay = await createTestAssay({
    setUpMs: 10_000,
    wrapEnvironment: (environment) => ({
      ...environment,
      open: async (request) =>
        request.labels?.['task'] === hung
          ? await new Promise<never>(() => undefined)
          : await environment.open(request),
    }),
  });
});
afterAll(() => assay.close());

test('C21 one cell whose session never opens ends as infra with its phase and timer, and keeps no other', async () => {
  hung = '3';
  const runId = await begin(assay, {
    models: [script([bash('echo 42 > answer'), { say: 'done' }])],
    suite: { ...sums(6), scorers: [{ kind: 'command', command: 'grep -qx 42 answer' }] },
    harness: { kind: 'agent', maxSteps: 5 },
    environment: 'host',
    execution: { taskConcurrency: 2 },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 5, infra: 1 } });
  const cell = (await loadCells(assay, runId)).find(({ case_id: caseId }) => caseId === HUNG);
  expect(JSON.parse(cell?.detail ?? '')).toMatchObject({
    kind: 'infra',
    reason: {
      phase: 'open',
      code: 'open_failed',
      message: expect.stringMatching(/not ready within the limit of set-up, 10 s \(measured \d+\.\d s\)/),
    },
  });
  const sessions = await readSessions(assay, runId);
  expect(sessions.map(({ state }) => state)).toEqual(Array(6).fill('closed'));
});
