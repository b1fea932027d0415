import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createHost, type WorkerHost } from '../hosts/worker-host.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, loadCells, oracle, script, sums, waitFor } from '../workflows/support.ts';
import { findEngineProblem, IMAGE, startEngine, type TestEngine } from './docker-subject.ts';

const skip = findEngineProblem();
if (skip !== null) console.warn(`skipped: what hosts offer: ${skip}`);

describe.skipIf(skip !== null)('what hosts offer', { timeout: 180_000 }, () => {
  let folder: string;
  let engine: TestEngine;
  let assay: TestAssay;
  let other: WorkerHost;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'assay-offer-'));
    chmodSync(folder, 0o755);
    // There is no engine yet where this worker looks for it.
    vi.stubEnv('DOCKER_HOST', `unix://${join(folder, 'docker.sock')}`);
    assay = await createTestAssay();
    engine = await startEngine();
    const { databaseUrl, temporal, client } = assay;
    const { temporalAddress } = temporal;
    vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
    other = createHost(join(folder, 'other'), {
      databaseUrl,
      temporalAddress,
      namespace: client.options.namespace,
    });
  });
  afterAll(async () => {
    await other.kill();
    await assay.close();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const document = {
    models: [script([bash('echo 42 > answer'), { say: 'done' }])],
    suite: { ...sums(1), scorers: [{ kind: 'command', command: 'grep -qx 42 answer' }] },
    harness: { kind: 'agent', maxSteps: 5 },
    environment: { kind: 'docker', image: IMAGE },
  };
  const hostsOf = async (runId: string): Promise<string[]> => {
    const { rows } = await assay.db.query<{ host_id: string }>(
      'select host_id from environment_sessions where run_id = $1',
      [runId],
    );
    return rows.map(({ host_id: hostId }) => hostId);
  };
  const listPreparations = async (runId: string, activity = 'prepare'): Promise<string[]> => {
    const { events } = await assay.client.workflow.getHandle(`run/${runId}`).fetchHistory();
    return (events ?? [])
      .map((event) => event.activityTaskScheduledEventAttributes)
      .filter((scheduled) => scheduled?.activityType?.name === activity)
      .map((scheduled) => scheduled?.taskQueue?.name ?? '');
  };

  test('a run that no host can open is refused with what to do', async () => {
    const runId = await begin(assay, document);
    await expect(assay.result(runId)).rejects.toMatchObject({
      cause: { cause: { message: expect.stringContaining('docker does not answer') } },
    });
  });

  test('a run is prepared and runs on the host that has the engine, whichever worker was asked first', async () => {
    await other.start();
    for (let sent = false; !sent;) {
      const runId = await begin(assay, document);
      expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
      expect((await loadCells(assay, runId)).map(({ score }) => score)).toEqual([1]);
      expect(await hostsOf(runId)).toEqual([other.hostId()]);
      // Either worker may be asked; the one without an engine sends it on.
      sent = (await listPreparations(runId)).includes(`assay-host-${other.hostId()}`);
    }
  });

  test('a later request is prepared on the host that has the engine, whichever worker was asked', async () => {
    const { models, ...request } = document;
    for (let sent = false; !sent;) {
      const runId = await begin(assay, {
        models: [...models, oracle()],
        requests: [
          { name: 'first', suite: sums(3), models: ['right'] },
          { ...request, name: 'second', models: models.map(({ id }) => id) },
        ],
        execution: { taskConcurrency: 1 },
      });
      expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 4 } });
      sent = (await listPreparations(runId, 'prepareRequest')).includes(`assay-host-${other.hostId()}`);
    }
  });

  test('an engine that comes up later is found without a restart of the worker', async () => {
    await other.stop();
    await assay.db.query(`update hosts set seen_at = 'epoch' where host_id = $1`, [other.hostId()]);
    symlinkSync(engine.socketPath, join(folder, 'docker.sock'));
    const runId = await begin(assay, document);
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
    expect(await hostsOf(runId)).not.toEqual([other.hostId()]);
    await waitFor('what the host says of itself', async () => {
      const { rows } = await assay.db.query<{ problem: string | null }>(
        `select environments -> 'docker' ->> 'problem' as problem from hosts where host_id <> $1`,
        [other.hostId()],
      );
      return rows[0]?.problem === null;
    });
  });
});
