import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { migrate } from '../../src/store/migrate.ts';
import { createPool } from '../../src/store/pool.ts';
import { findProcesses, hasProcessTable } from '../crash/processes.ts';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { findEngineProblem, startEngine, type TestEngine } from '../environments/docker-subject.ts';
import { createHost, type WorkerHost } from '../hosts/worker-host.ts';
import { createNamespace } from '../support/assay.ts';
import { connectTestTemporal, createTestDatabase, type TestTemporal } from '../support/stack.ts';
import { runLeakTrial, type LeakResult } from './leak-trial.ts';
import { keepLeakTable } from './leak-table.ts';

/** One run in the suite; `npm run soak:leaks` makes twenty and keeps the table. */
const RUNS = Number(process.env['ASSAY_LEAK_RUNS'] ?? 1);
const SEEDS = Array.from({ length: RUNS }, (_, index) => index + 1);
const KEEP = RUNS > 1;

const skip = (await describeBubblewrap()).problem ?? findEngineProblem();
if (skip !== null) console.warn(`skipped: nothing leaks: ${skip}`);

describe.skipIf(skip !== null || !hasProcessTable)('nothing leaks', () => {
  let folder: string;
  let temporal: TestTemporal;
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let client: Client;
  let db: pg.Pool;
  let engine: TestEngine;
  let host: WorkerHost;

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-leaks-')));
    chmodSync(folder, 0o755);
    engine = await startEngine();
    vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
    database = await createTestDatabase();
    temporal = await connectTestTemporal();
    const namespace = await createNamespace(temporal);
    client = new Client({ connection: temporal.connection, namespace });
    db = createPool(database.databaseUrl, { maxConnections: 5 });
    await migrate(db);
    const { databaseUrl } = database;
    const services = { databaseUrl, temporalAddress: temporal.temporalAddress, namespace };
    host = createHost(join(folder, 'host'), services);
    await host.start();
  });

  afterAll(async () => {
    await host.kill();
    for (const { pid } of findProcesses(folder)) process.kill(pid, 'SIGKILL');
    await engine.stop();
    await db.end();
    await temporal.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test(
    'C26 AC-S5 kills of worker, session and docker engine leave no process, container, network, volume, folder, group or open row once the reaper has run',
    { timeout: SEEDS.length * 400_000 },
    async () => {
      const results: LeakResult[] = [];
      for (const seed of SEEDS) {
        const result = await runLeakTrial({ db, client, host, engine }, seed);
        results.push(result);
        if (KEEP) console.log(JSON.stringify(result));
      }
      if (KEEP) keepLeakTable(results);
      // What is looked for can be found.
      const kinds = ['container', 'folder', 'network', 'process', 'row', 'volume'];
      expect(results.flatMap(({ found }) => found)).toEqual(expect.arrayContaining(kinds));
      const bad = results.filter(({ problems, left }) => problems.length + left.length > 0);
      expect(bad.length === 0 ? [] : [bad, host.log().slice(-3_000)]).toEqual([]);
    },
  );
});
