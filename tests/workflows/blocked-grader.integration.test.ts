import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, countOutcomes, oracle, reachDeadline, sums, waitFor } from './support.ts';

const marks = mkdtempSync(join(tmpdir(), 'assay-blocked-'));
let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({
    options: { maxHeartbeatThrottleInterval: 500, defaultHeartbeatThrottleInterval: 500 },
  });
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true });
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('AC-L9 a grader that blocks at the deadline is ended within the grace, and waited for', async () => {
  const path = join(marks, 'pid');
  const write = `(await import('node:fs')).writeFileSync('${path}', String(process.pid))`;
  const runId = await begin(assay, {
    models: [oracle()],
    suite: {
      ...sums(1),
      scorers: [{ kind: 'javascript', expression: `(${write}, (() => { for (;;); })())`, timeout: '10m' }],
    },
    execution: { timeout: '1h', cleanupGrace: '5m' },
  });
  await waitFor('the grader', async () => existsSync(path) && readFileSync(path, 'utf8') !== '');
  const pid = Number(readFileSync(path, 'utf8'));
  expect(isAlive(pid)).toBe(true);
  await reachDeadline(assay, runId);
  expect(await assay.result(runId)).toMatchObject({ state: 'timed_out' });
  // What was paid for is known, and nothing blocks any more.
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 1 });
  expect(isAlive(pid)).toBe(false);
});
