import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hasProcessTable } from '../crash/processes.ts';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { findEngineProblem, startEngine, type TestEngine } from '../environments/docker-subject.ts';
import { openHostServices, type HostServices } from '../hosts/host-services.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { runLeakTrial, type LeakResult } from './leak-trial.ts';
import { keepLeakTable } from './leak-table.ts';

/** One run in the suite; `npm run soak:leaks` makes twenty and keeps the table. */
const RUNS = Number(process.env['ASSAY_LEAK_RUNS'] ?? 1);
const SEEDS = Array.from({ length: RUNS }, (_, index) => index + 1);
const KEEP = RUNS > 1;

const skip = (await describeBubblewrap()).problem ?? findEngineProblem();
if (skip !== null) console.warn(`skipped: nothing leaks: ${skip}`);

describe.skipIf(skip !== null || !hasProcessTable)('nothing leaks', () => {
  let services: HostServices;
  let engine: TestEngine;
  let host: WorkerHost;

  beforeAll(async () => {
    engine = await startEngine();
    vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
    services = await openHostServices('leaks');
    host = services.createHost('host');
    await host.start();
  });

  afterAll(async () => {
    await host.kill();
    await engine.stop();
    await services.close();
  });

  test(
    'C26 AC-S5 kills of worker, session and docker engine leave no process, container, network, volume, folder, group or open row once the reaper has run',
    { timeout: SEEDS.length * 400_000 },
    async () => {
      const results: LeakResult[] = [];
      for (const seed of SEEDS) {
        const result = await runLeakTrial({ ...services, host, engine }, seed);
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
