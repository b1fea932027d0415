import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { waitFor, workflowOf } from '../workflows/support.ts';
import { createGoldenRun, formatMode, listAttempts, toAttemptWorkflowId, type Golden } from './attempts.ts';
import { CallLog, type Trouble } from './call-log.ts';
import { KEEPS_EVERYWHERE, MODES, stepsOf, type Mode } from './steps.ts';

// Long, on a busy machine, where sessions are kept at every step.
const TIMEOUT_MS = KEEPS_EVERYWHERE ? 900_000 : 300_000;
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
  if (step?.line == null) return null;
  const { line, times = Infinity, byModel = false } = step;
  // A model that fails does so by its script.
  return run.kind === 'fail' && byModel ? null : { kind: run.kind, line, times, byModel };
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
    await Promise.all((await provider.listSessions()).map((handle) => provider.close(handle)));
  await assay.close();
  rmSync(marks, { recursive: true });
});

async function start(mode: Mode, kind: Trouble['kind']): Promise<string> {
  const runId = createTestRunId();
  runs.set(runId, { mode, kind });
  const held = listHeld(mode);
  log.expected.set(runId, { held: held.length, short: held.filter(({ step }) => step.isShort).length });
  return await assay.start(createGoldenRun(mode, marks, kind), { runId });
}

describe.skipIf(problem !== null)('the order of one attempt', { timeout: TIMEOUT_MS }, () => {
  test.each(MODES)(
    'AC-A1 AC-A2 AC-A3 AC-A5 AC-A8 AC-A11 AC-A16 AC-E1 AC-E2 AC-N4 AC-N5 evaluation %s, with a failure at each step: what is called and closed, which error is shown',
    async (mode) => {
      const runId = await start(mode, 'fail');
      expect(await assay.result(runId)).toMatchObject({ state: 'completed' });
      const text = await formatMode(assay, { runId, log }, mode);
      expect(text).toBe(readExpected(text, `fail-${mode}.txt`, mode));
      const unplanned = 'select task from attempts where run_id = $1 and plan_digest is null';
      expect((await assay.db.query(unplanned, [runId])).rows).toEqual([]);
    },
  );

  test.each(MODES)(
    'AC-A5 AC-A9 AC-A12 evaluation %s, with a cancel at each step: all is closed, inner to outer',
    async (mode) => {
      const runId = await start(mode, 'hold');
      await waitFor('every attempt at its step', async () => log.isHeld(runId), TIMEOUT_MS - 100_000);
      await workflowOf(assay, runId).cancel();
      for (const one of listHeld(mode).filter(({ step }) => step.line === 'task close'))
        await waitFor('the cancel', () => hasCancel(toAttemptWorkflowId(runId, one)));
      log.release();
      await workflowOf(assay, runId)
        .result()
        .catch(() => undefined);
      const text = await formatMode(assay, { runId, log }, mode);
      expect(text).toBe(readExpected(text, `cancel-${mode}.txt`, mode));
    },
  );
});

/** `npm run golden` writes the file again, with sessions that are kept at every step; the suite keeps fewer. */
function readExpected(text: string, file: string, mode: Mode): string {
  const url = new URL(`expected/${file}`, import.meta.url);
  if (KEEPS_EVERYWHERE) writeFileSync(url, text);
  const kept = stepsOf(mode, true).map(({ id }) => `=== ${id} ===`);
  const blocks = readFileSync(url, 'utf8').split(/^(?==== )/m);
  const run = blocks.map((block) =>
    kept.some((title) => block.startsWith(title)) ? block : block.replace(/^kept:.*\n(?: {2}.*\n)*/m, ''),
  );
  return run.join('');
}

/** Attempts that come to their step: a session that is kept is not closed. */
const listHeld = (mode: Mode): readonly Golden[] =>
  listAttempts(mode).filter(
    ({ step, keep }) => step.line !== null && !(keep && (step.id === 'close' || step.id === 'second-close')),
  );

async function hasCancel(workflowId: string): Promise<boolean> {
  const { events } = await assay.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).some((event) => event.workflowExecutionCancelRequestedEventAttributes != null);
}
