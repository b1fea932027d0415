import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../src/local/postgres.ts';
import { endProcess, isAlive } from '../../src/local/process-identity.ts';
import { startTemporal } from '../../src/local/temporal-server.ts';

/** One Postgres and one Temporal server for all integration tests of a run, ended and removed afterwards. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-test-'));
  chmodSync(dataDir, 0o755);
  const search = { environment: process.env, note: (message: string) => console.log(message) };
  const [postgres, temporal] = await Promise.allSettled([
    startPostgres({ dataDir, port: null }),
    startTemporal({ dataDir, ports: null, ...search }),
  ]);
  const started = [postgres, temporal].map((part) =>
    part.status === 'fulfilled' ? part.value.process : null,
  );
  // A second Ctrl-C skips the teardown.
  const endAtExit = () => {
    for (const identity of started) if (identity && isAlive(identity)) process.kill(identity.pid, 'SIGKILL');
  };
  process.once('exit', endAtExit);
  const teardown = async () => {
    process.off('exit', endAtExit);
    await Promise.all(started.map((identity) => endProcess(identity, { signal: 'SIGINT', graceMs: 10_000 })));
    rmSync(dataDir, { recursive: true, force: true });
  };
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    await teardown();
    throw postgres.status === 'rejected' ? postgres.reason : (temporal as PromiseRejectedResult).reason;
  }
  const { databaseUrl } = postgres.value;
  const { temporalAddress } = temporal.value;
  process.env['ASSAY_TEST_DATABASE_URL'] = databaseUrl;
  process.env['ASSAY_TEST_TEMPORAL_ADDRESS'] = temporalAddress;
  project.provide('databaseUrl', databaseUrl);
  project.provide('temporalAddress', temporalAddress);
  return teardown;
}

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
    temporalAddress: string;
  }
}
