import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from './external-services.ts';
import { startPart, waitUntilReady } from './part-process.ts';
import type { StartedPart } from './part-process.ts';
import { identifyProcess, isAlive, readIdentityFile } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** Addresses that the parts of a stack work with. */
export type StackAddresses = {
  readonly databaseUrl: string;
  /** `host:port` of Temporal's front end. */
  readonly temporalAddress: string;
  readonly namespace: string;
};

/** How long a worker that was told to end may finish its calls. */
export const workerDrainMs = 60_000;

/** The command line of the worker, its program first, and the variables that it gets beside ASSAY_DATA_DIR. */
export type WorkerStart = {
  readonly dataDir: string;
  readonly command: readonly string[];
  readonly environment: Environment;
};

/** Starts the worker in a session of its own. It has to call `markWorkerReady`; see `waitForWorker`. */
export async function startWorker({ dataDir, command, environment }: WorkerStart): Promise<StartedPart> {
  const [program = '', ...args] = command;
  return startPart({
    name: workerName,
    command: program,
    args,
    environment: { ...environment, ASSAY_DATA_DIR: dataDir },
    cwd: dirname(dataDir),
    logFile: logFile(dataDir),
  });
}

/** Waits until the worker has called `markWorkerReady`. Throws a StackError with the end of its log. */
export async function waitForWorker(dataDir: string, part: StartedPart): Promise<void> {
  const probe = async () => {
    if (!isWorkerReady(dataDir, part.process)) throw new Error('it has not said that it is ready');
  };
  await waitUntilReady(part, { probe, timeoutMs: 60_000 });
}

/** Whether exactly this worker has called `markWorkerReady`. */
export function isWorkerReady(dataDir: string, worker: ProcessIdentity): boolean {
  const ready = readIdentityFile(readyFile(dataDir, 'stack'));
  return ready?.pid === worker.pid && ready.startTime === worker.startTime;
}

/** A worker that another command has started, as `waitForWorker` wants it. */
export function runningWorker(dataDir: string, worker: ProcessIdentity): StartedPart {
  return { name: workerName, process: worker, logFile: logFile(dataDir), logOffset: 0 };
}

/** A worker that belongs to a stack, or one that somebody runs by itself. */
export type WorkerKind = 'stack' | 'own';

/** Called by a worker when it polls: commands that wait for the one of a stack go on. */
export function markWorkerReady(dataDir: string, kind: WorkerKind = 'stack'): void {
  const file = readyFile(dataDir, kind);
  writeFileSync(`${file}.new`, JSON.stringify(identifyProcess(process.pid)));
  renameSync(`${file}.new`, file);
}

/** Whether a worker that works in this folder polls, of a stack or by itself. */
export const hasPollingWorker = (dataDir: string): boolean =>
  (['own', 'stack'] as const).some((kind) => isAlive(readIdentityFile(readyFile(dataDir, kind))));

/** A digest of the addresses: a worker that was started for others is replaced. */
export function workerTarget({ databaseUrl, temporalAddress, namespace }: StackAddresses): string {
  const text = JSON.stringify([databaseUrl, temporalAddress, namespace]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

const workerName = 'The worker';

function logFile(dataDir: string): string {
  return join(dataDir, 'logs', 'worker.log');
}

function readyFile(dataDir: string, kind: WorkerKind): string {
  return join(dataDir, kind === 'stack' ? 'worker-ready.json' : 'own-worker-ready.json');
}
