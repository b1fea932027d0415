import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cleanSandboxes, listSandboxes } from '../../src/client/sandboxes.ts';
import type { EnvironmentProvider } from '../../src/environments/environment.ts';
import { createEnvironments } from '../../src/environments/lookup.ts';
import { countSessions } from '../../src/worker/counted-environments.ts';
import { reapSessions } from '../../src/worker/reap-sessions.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, script, sums } from '../workflows/support.ts';
import { describeBubblewrap } from './bubblewrap-subject.ts';
import { findEngineProblem, IMAGE, startEngine, type TestEngine } from './docker-subject.ts';

const skip = (await describeBubblewrap()).problem ?? findEngineProblem();
if (skip !== null) console.warn(`skipped: kept sessions: ${skip}`);

const ENVIRONMENTS = {
  host: { kind: 'host', keep: '1h' },
  bubblewrap: { kind: 'bubblewrap', keep: '1h', resources: { disk: '8m' } },
  docker: { kind: 'docker', image: IMAGE, keep: '1h', resources: { memory: '64m', reservedMemory: '16m' } },
  vanished: { kind: 'docker', image: IMAGE, keep: '1h' },
} as const;

describe.skipIf(skip !== null)('kept sessions', () => {
  let engine: TestEngine;
  let assay: TestAssay;
  beforeAll(async () => {
    engine = await startEngine();
    vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
    assay = await createTestAssay();
  });
  afterAll(async () => {
    await assay.close();
    await engine.stop();
  });

  /** What a worker that is started now has. */
  const makeProviders = (hostId: string): readonly EnvironmentProvider[] => {
    const place = { hostId, installationId: hostId, path: process.env['PATH'] ?? '' };
    return createEnvironments({
      host: { ...place, root: join(assay.dataDir, 'sessions') },
      bubblewrap: { ...place, root: join(assay.dataDir, 'sandboxes') },
      docker: { ...place, root: join(assay.dataDir, 'containers'), socketPath: engine.socketPath },
    });
  };

  test('AC-S6 sessions that are to be kept outlive run, worker and engine, are listed with their limits, and go when a person lets them or their time is over', async () => {
    const runId = await begin(assay, {
      models: [script([bash('echo kept > f'), { say: 'done' }])],
      requests: Object.entries(ENVIRONMENTS).map(([name, environment]) => ({
        name,
        suite: sums(1),
        harness: { kind: 'agent', maxSteps: 5 },
        environment: { ...environment },
      })),
    });
    await assay.result(runId);
    await engine.crash();
    const kept = await listSandboxes(assay.connection);
    const states = kept.map(({ kind, state }) => `${kind} ${state}`);
    expect(states.toSorted()).toEqual([
      'bubblewrap retained',
      'docker retained',
      'docker retained',
      'host retained',
    ]);
    const [hostId = ''] = kept.map((row) => row.hostId);
    const find = (kind: string, limited: boolean) => {
      const isLimited = ({ resources }: (typeof kept)[number]): boolean =>
        (resources?.memoryBytes ?? resources?.diskBytes ?? null) !== null;
      const row = kept.find((one) => one.kind === kind && isLimited(one) === limited);
      if (row === undefined) throw new Error(`no kept session of ${kind}`);
      return row;
    };
    expect(find('bubblewrap', true).resources).toMatchObject({ diskBytes: 8 << 20 });
    expect(find('docker', true).resources).toMatchObject({
      memoryBytes: 64 << 20,
      reservedMemoryBytes: 16 << 20,
    });

    const providers = makeProviders(hostId);
    const environments = countSessions(providers, { capacities: {}, opensPerSecond: 0 });
    const logger = pino({ level: 'error' });
    const reap = () => reapSessions({ client: assay.client, db: assay.db, environments, hostId, logger });
    await reap();
    for (const row of kept) {
      const provider = providers.find(({ kind }) => kind === row.kind);
      const session = await provider?.attach({ ...row, root: row.root ?? '' });
      expect(await session?.listFiles('.')).toEqual(['f']);
    }

    await expect(cleanSandboxes(assay.connection, ['no-such'])).rejects.toThrow('No session "no-such"');
    const host = find('host', false);
    expect(await cleanSandboxes(assay.connection, [host.sessionId])).toEqual([host.sessionId]);
    // One whose time is over, and one that somebody removed by hand.
    await assay.db.query(`update environment_sessions set keep_until = now() where session_id = $1`, [
      find('bubblewrap', true).sessionId,
    ]);
    const vanished = kept.find(({ kind, resources }) => kind === 'docker' && resources?.memoryBytes === null);
    await engine.docker.getContainer(vanished?.root ?? '').remove({ force: true, v: true });
    await reap();
    expect((await listSandboxes(assay.connection)).map(({ kind }) => kind)).toEqual(['docker', 'docker']);
    expect(await cleanSandboxes(assay.connection, [])).toHaveLength(2);
    await reap();
    expect(await listSandboxes(assay.connection)).toEqual([]);
    for (const provider of providers) expect(await provider.listSessions()).toEqual([]);
    expect(await engine.docker.listContainers({ all: true })).toEqual([]);
  });
});
