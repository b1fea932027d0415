import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pino } from 'pino';
import { cleanSandboxes, listSandboxes } from '../../src/client/sandboxes.ts';
import { createBubblewrapEnvironment } from '../../src/environments/bubblewrap.ts';
import { countSessions } from '../../src/worker/counted-environments.ts';
import { reapSessions } from '../../src/worker/reap-sessions.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from '../workflows/sessions.ts';
import { bash, begin, loadCells, script, sums } from '../workflows/support.ts';
import { describeBubblewrap } from './bubblewrap-subject.ts';
import { GRADED_IN_ALL_MODES, runEvaluationModes } from './evaluation-modes.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: runs in environment bubblewrap: ${problem}`);

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const graded = (command: string) => ({ ...sums(1), scorers: [{ kind: 'command', command }] });

describe.skipIf(problem !== null)('runs in environment bubblewrap', () => {
  test('an agent acts in a sandbox without network, is graded, and nothing of it is left', async () => {
    const tries = `(exec 3<>/dev/tcp/127.0.0.1/${new URL(`http://${assay.temporal.temporalAddress}`).port}) 2>/dev/null && echo open > net || echo cut > net; setsid sleep 1000 & pwd > where`;
    const runId = await begin(assay, {
      models: [script([bash(tries), { say: 'done' }])],
      suite: graded('grep -qx cut net && grep -qx /work where'),
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { kind: 'bubblewrap', network: { run: 'none' } },
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
    const [cell] = await loadCells(assay, runId);
    expect(cell).toMatchObject({ score: 1 });
    expect(await readSessions(assay, runId)).toMatchObject([{ state: 'closed' }]);
    const left = await readdir(join(assay.dataDir, 'sandboxes'));
    expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('a session that is to be kept outlives its run and goes when a person lets it, or its time is over', async () => {
    const runId = await begin(assay, {
      models: [script([bash('echo kept > f'), { say: 'done' }])],
      suite: sums(1),
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { kind: 'bubblewrap', keep: '1h', resources: { disk: '8m' } },
    });
    await assay.result(runId);
    const [kept] = await listSandboxes(assay.connection);
    expect(kept).toMatchObject({ state: 'retained', kind: 'bubblewrap', resources: { diskBytes: 8 << 20 } });
    const provider = createBubblewrapEnvironment({
      root: join(assay.dataDir, 'sandboxes'),
      hostId: kept!.hostId,
      installationId: kept!.hostId,
      path: process.env['PATH'] ?? '',
    });
    const reap = () =>
      reapSessions({
        client: assay.client,
        db: assay.db,
        environments: countSessions([provider], { capacities: {}, opensPerSecond: 0 }),
        hostId: kept!.hostId,
        logger: pino({ level: 'error' }),
      });
    await reap();
    const session = await provider.attach({ ...kept!, root: kept!.root ?? '' });
    expect(await session?.listFiles('.')).toEqual(['f']);
    await expect(cleanSandboxes(assay.connection, ['no-such'])).rejects.toThrow('No session "no-such"');
    expect(await cleanSandboxes(assay.connection, [])).toEqual([kept!.sessionId]);
    await reap();
    expect(await listSandboxes(assay.connection)).toEqual([]);
    expect(await provider.listSessions()).toEqual([]);
  });

  test('AC-A2 AC-A6 AC-A19 an agent without network is graded in its own session, in a fresh one and in none', async () => {
    expect(await runEvaluationModes(assay, { kind: 'bubblewrap' })).toEqual(GRADED_IN_ALL_MODES);
  });

  test('AC-N1 a root directory that is not there is told before anything starts', async () => {
    const runId = await begin(assay, {
      models: [script([{ say: 'done' }])],
      suite: sums(1),
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { kind: 'bubblewrap', root: '/nonexistent/root' },
    });
    await expect(assay.result(runId)).rejects.toMatchObject({
      cause: { cause: { message: expect.stringContaining('"/nonexistent/root" is no directory') } },
    });
  });
});
