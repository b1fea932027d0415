import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasPollingWorker } from '../../src/local/worker-part.ts';
import { plainEnvironment } from '../local/stack-options.ts';
import { BUNDLE_FOLDER } from '../support/bundle-folder.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/assay', import.meta.url));
const READY_LIMIT_MS = 180_000;

export type Services = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
};

/** A machine with one worker: a data folder, and so a host id, of its own. */
export type WorkerHost = {
  readonly dataDir: string;
  readonly hostId: () => string;
  /** Starts `assay worker` and waits until it polls. */
  readonly start: () => Promise<void>;
  /** Ends the worker's process at once, as a machine that loses power. */
  readonly kill: () => Promise<void>;
  /** Stops the worker's process as a machine that falls asleep, and lets it go on. */
  readonly sleep: () => void;
  readonly wake: () => void;
  /** Tells the worker to end; the exit code. */
  readonly stop: () => Promise<number | null>;
  /** The worker's log of all its starts, for a test that failed. */
  readonly log: () => string;
};

export function createHost(folder: string, services: Services): WorkerHost {
  const dataDir = join(folder, 'data');
  const logFile = join(folder, 'worker.log');
  mkdirSync(dataDir, { recursive: true });
  // Every test builds the same workflows: once is enough.
  mkdirSync(BUNDLE_FOLDER, { recursive: true });
  symlinkSync(BUNDLE_FOLDER, join(dataDir, 'cache'));
  const env = plainEnvironment({
    ASSAY_DIR: dataDir,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    TEMPORAL_NAMESPACE: services.namespace,
  });
  let running: { readonly child: ChildProcess; readonly ended: Promise<number | null> } | null = null;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (running === null) return null;
    const { child, ended } = running;
    running = null;
    child.kill(signal);
    return await ended;
  };
  return {
    dataDir,
    hostId: () => readFileSync(join(dataDir, 'host-id'), 'utf8').trim(),
    start: async () => {
      const child = spawn(LAUNCHER, ['worker'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const log = createWriteStream(logFile, { flags: 'a' });
      child.stdout.pipe(log, { end: false });
      child.stderr.pipe(log, { end: false });
      const { promise: ended, resolve } = Promise.withResolvers<number | null>();
      child.on('close', (code) => (log.end(), resolve(code)));
      running = { child, ended };
      await waitForPolling(dataDir, child, logFile);
    },
    kill: async () => void (await end('SIGKILL')),
    sleep: () => void running?.child.kill('SIGSTOP'),
    wake: () => void running?.child.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
    log: () => readFileSync(logFile, 'utf8'),
  };
}

async function waitForPolling(
  dataDir: string,
  child: { readonly exitCode: number | null },
  logFile: string,
): Promise<void> {
  const deadline = Date.now() + READY_LIMIT_MS;
  while (!hasPollingWorker(dataDir)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`the worker of ${dataDir} does not poll:\n${readFileSync(logFile, 'utf8')}`);
    }
    await sleep(50);
  }
}
