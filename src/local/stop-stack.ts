import { realpathSync } from 'node:fs';
import { listClients } from './clients.ts';
import { endProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { readStackFile, withoutDeadParts, writeStackFile } from './stack-file.ts';
import type { StackFile } from './stack-file.ts';
import { withStackLock } from './stack-lock.ts';
import { endFormerServer } from './temporal-server.ts';
import { workerDrainMs } from './worker-part.ts';

/** A part of the stack, and its process when it runs. */
export type PartStatus = {
  readonly name: 'postgres' | 'temporal' | 'worker';
  readonly process: ProcessIdentity | null;
  readonly port: number | null;
};

/** The stack's version and parts; `version` is null when there is no stack file. */
export type StackStatus = {
  readonly version: string | null;
  readonly uiUrl: string | null;
  readonly parts: readonly PartStatus[];
};

/** What runs of the stack at this moment. Starts nothing. */
export function stackStatus(dataDir: string): StackStatus {
  const found = readStackFile(dataDir);
  const file = found && withoutDeadParts(found);
  const uiUrl = file?.temporal?.process ? `http://127.0.0.1:${file.temporal.uiPort}` : null;
  return {
    version: file?.version ?? null,
    uiUrl,
    parts: [
      { name: 'postgres', process: file?.postgres?.process ?? null, port: file?.postgres?.port ?? null },
      { name: 'temporal', process: file?.temporal?.process ?? null, port: file?.temporal?.port ?? null },
      { name: 'worker', process: file?.worker?.process ?? null, port: null },
    ],
  };
}

/**
 * Stops every part that runs: the worker first, which may finish its calls for `drainMs` (one minute when not given).
 * Ports are kept for the next start. Returns the names of the stopped parts.
 */
export async function stopStack(dataDir: string, { drainMs = workerDrainMs } = {}): Promise<string[]> {
  const folder = realFolder(dataDir);
  if (folder === null) return [];
  return withStackLock(folder, async () => {
    const file = markStopping(folder);
    const names = stackStatus(folder).parts.flatMap((part) => (part.process ? [part.name] : []));
    await endProcess(file?.worker?.process, { signal: 'SIGTERM', graceMs: drainMs });
    await stopServers(folder, file);
    return names;
  });
}

/** What the worker knows when it asks whether to stop the stack. */
export type IdleStop = {
  readonly dataDir: string;
  /** Asked again under the lock: no open run. */
  readonly isStillIdle: () => Promise<boolean>;
  /** Ends the worker's own polling, before Postgres and Temporal go. */
  readonly drain: () => Promise<void>;
};

/**
 * Called by the worker of a stack that has been idle: stops the other parts, unless a command has come meanwhile.
 * After true the worker ends its own process.
 */
export async function stopIdleStack({ dataDir, isStillIdle, drain }: IdleStop): Promise<boolean> {
  const folder = realFolder(dataDir);
  if (folder === null) return true;
  return withStackLock(folder, async () => {
    const file = markStopping(folder);
    // A command registers before it reads the file: it either is seen here, or sees the mark and waits for the lock.
    if (listClients(folder).length > 0 || !(await isStillIdle())) {
      if (file) writeStackFile(folder, { ...file, stopping: false });
      return false;
    }
    await drain();
    await stopServers(folder, file);
    return true;
  });
}

function markStopping(dataDir: string): StackFile | null {
  const file = readStackFile(dataDir);
  if (file !== null) writeStackFile(dataDir, { ...file, stopping: true });
  return file;
}

async function stopServers(dataDir: string, file: StackFile | null): Promise<void> {
  await Promise.all([
    endProcess(file?.postgres?.process, { signal: 'SIGINT', graceMs: 30_000 }),
    endProcess(file?.temporal?.process, { signal: 'SIGTERM', graceMs: 15_000 }).then(() =>
      endFormerServer(dataDir),
    ),
  ]);
  if (file === null) return;
  writeStackFile(dataDir, {
    ...file,
    stopping: false,
    postgres: file.postgres && { ...file.postgres, process: null },
    temporal: file.temporal && { ...file.temporal, process: null },
    worker: null,
  });
}

function realFolder(dataDir: string): string | null {
  try {
    return realpathSync(dataDir);
  } catch {
    return null;
  }
}
