import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { oracle, sums } from '../workflows/support.ts';
import { CallLog } from './call-log.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: the order of an attempt without a harness: ${problem}`);

let assay: TestAssay;
const marks = mkdtempSync(join(tmpdir(), 'assay-harness-free-'));
const log = new CallLog(marks, () => null);
beforeAll(async () => {
  const { wrapEnvironment, interceptors = {} } = log;
  assay = await createTestAssay({ wrapEnvironment, options: { interceptors } });
  log.dataDir = assay.dataDir;
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true });
});

describe.skipIf(problem !== null)('an attempt without a harness', () => {
  test('AC-A4 it has no tools and no agent, and passes the same boundaries of policy as one with a harness', async () => {
    const runId = createTestRunId();
    await assay.start(
      {
        models: [oracle()],
        suite: {
          ...sums(1, { setup: ': setup' }),
          scorers: ['exact', { kind: 'command', command: ': grader; true' }],
        },
        environment: {
          kind: 'bubblewrap',
          network: { run: 'none', evaluation: { allow: ['example.invalid'] } },
        },
      },
      { runId },
    );
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
    expect(log.linesOf(runId, 1)).toEqual([
      'openSession',
      '  task open public',
      '  task exec setup',
      '  task network none',
      'callModel',
      'evaluate',
      '  task end processes',
      '  task network allowlist',
      "  task open the grader's folder",
      '  task exec grader',
      '  task network public',
      'closeSession',
      '  task close',
      'gradeAndRecord',
    ]);
  });
});
