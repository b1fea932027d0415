import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { waitFor, workflowOf } from '../workflows/support.ts';
import { createGoldenRun, formatMode, listAttempts, toAttemptWorkflowId, type Golden } from './attempts.ts';
import { CallLog, type Trouble } from './call-log.ts';
import { MODES, type Mode } from './steps.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: the order of an attempt: ${problem}`);

let assay: TestAssay;
const marks = mkdtempSync(join(tmpdir(), 'assay-golden-'));
chmodSync(marks, 0o755);
const runs = new Map<string, { readonly mode: Mode; readonly kind: Trouble['kind'] }>();

/** Everything goes wrong where its step says. */
const log = new CallLog(marks, (runId, task) => {
  const run = runs.get(runId);
  if (run === undefined) return null;
  const step = listAttempts(run.mode)[task - 1]?.step;
  // A model that fails does so by its script.
  if (step?.line == null || (run.kind === 'fail' && step.id === 'model')) return null;
  return { kind: run.kind, line: step.line, times: step.times ?? Infinity };
});

beforeAll(async () => {
  // Opened one after the other, so that many that wait at their steps do not all start at once.
  vi.stubEnv('ASSAY_OPENS_PER_SECOND', '5');
  const { wrapEnvironment, interceptors = {} } = log;
  assay = await createTestAssay({ wrapEnvironment, options: { interceptors } });
  log.dataDir = assay.dataDir;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  // What a close that failed, and keep, left.
  for (const provider of log.providers)
    for (const handle of await provider.listSessions()) await provider.close(handle);
  await assay.close();
  rmSync(marks, { recursive: true });
});

async function start(mode: Mode, kind: Trouble['kind']): Promise<string> {
  const runId = createTestRunId();
  runs.set(runId, { mode, kind });
  log.expected.set(runId, listHeld(mode).length);
  return await assay.start(createGoldenRun(mode, marks, kind), { runId });
}

describe.skipIf(problem !== null)('the order of one attempt', { timeout: 300_000 }, () => {
  test.each(MODES)(
    'AC-A1 AC-A2 AC-A3 AC-A5 AC-A8 AC-A11 AC-A16 AC-E1 AC-E2 AC-N4 AC-N5 evaluation %s, with a failure at each step: what is called and closed, which error is shown',
    async (mode) => {
      const runId = await start(mode, 'fail');
      expect(await assay.result(runId)).toMatchObject({ state: 'completed' });
      const text = await formatMode(assay, { runId, log }, mode);
      await expect(text).toMatchFileSnapshot(`expected/fail-${mode}.txt`);
      const unplanned = 'select task from attempts where run_id = $1 and plan_digest is null';
      expect((await assay.db.query(unplanned, [runId])).rows).toEqual([]);
    },
  );

  test.each(MODES)(
    'AC-A5 AC-A9 AC-A12 evaluation %s, with a cancel at each step: all is closed, inner to outer',
    async (mode) => {
      const runId = await start(mode, 'hold');
      await waitFor('every attempt at its step', async () => log.isHeld(runId), 200_000);
      await workflowOf(assay, runId).cancel();
      for (const one of listHeld(mode).filter(({ step }) => step.line === 'task close'))
        await waitFor('the cancel', () => hasCancel(toAttemptWorkflowId(runId, one)));
      log.release();
      await workflowOf(assay, runId)
        .result()
        .catch(() => undefined);
      const text = await formatMode(assay, { runId, log }, mode);
      await expect(text).toMatchFileSnapshot(`expected/cancel-${mode}.txt`);
    },
  );
});

/** Attempts that come to their step: a session that is kept is not closed. */
const listHeld = (mode: Mode): readonly Golden[] =>
  listAttempts(mode).filter(
    ({ step, keep }) => step.line !== null && !(keep && (step.id === 'close' || step.id === 'second-close')),
  );

async function hasCancel(workflowId: string): Promise<boolean> {
  const { events } = await assay.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).some((event) => event.workflowExecutionCancelRequestedEventAttributes != null);
}
