import { registerClient } from './clients.ts';
import { assertFreeSpace, prepareDataFolder } from './data-folder.ts';
import { assertExternalServices, findExternalServices } from './external-services.ts';
import type { Environment, ExternalServices } from './external-services.ts';
import { localDatabaseUrl, startPostgres } from './postgres.ts';
import { endProcess, isAlive } from './process-identity.ts';
import { StackError } from './stack-error.ts';
import { readStackFile, withoutDeadParts, writeStackFile } from './stack-file.ts';
import type { StackFile } from './stack-file.ts';
import { withStackLock } from './stack-lock.ts';
import { localNamespace, startTemporal } from './temporal-server.ts';
import { assayVersion } from './version.ts';
import {
  isWorkerReady,
  runningWorker,
  startWorker,
  waitForWorker,
  workerDrainMs,
  workerTarget,
} from './worker-part.ts';
import type { StackAddresses } from './worker-part.ts';

/** What a command wants of the stack. */
export type StackOptions = {
  /** The folder of the stack's files, `.assay` of the project. */
  readonly dataDir: string;
  readonly environment: Environment;
  /** The worker's command line, program first. Null: no worker is started, and nobody stops an idle stack. */
  readonly workerCommand: readonly string[] | null;
  /** Told what is being started, one line each. */
  readonly note: (message: string) => void;
};

/** A stack that answers. `leave` ends this process's use of it, as does the end of the process. */
export type Stack = StackAddresses & { readonly uiUrl: string | null; readonly leave: () => void };

/**
 * Sees to it that Postgres, Temporal and (when wanted) the worker run, and returns their addresses. Parts that run are
 * left alone, dead ones are started again on their former ports, services that the user named are only checked.
 * Several processes may do this at once: one starts the stack, the others wait. Throws a StackError.
 */
export async function ensureStack(options: StackOptions): Promise<Stack> {
  const dataDir = prepareDataFolder(options.dataDir);
  const leave = registerClient(dataDir);
  try {
    const external = findExternalServices(options.environment);
    await assertExternalServices(external);
    const wanted = { ...options, dataDir, external, parts: allParts };
    const running = describeRunning(wanted) ?? (await withStackLock(dataDir, () => startMissing(wanted)));
    return { ...running, leave };
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * Starts again what has died of a stack that runs, on its former ports; for a worker or command that watches it. Parts
 * that were stopped on purpose, and a stack whose folder was removed, stay as they are. Returns whether anything was
 * started. Throws a StackError.
 */
export async function repairStack(options: StackOptions): Promise<boolean> {
  const { dataDir } = options;
  if (deadParts(readStackFile(dataDir)).size === 0) return false;
  const external = findExternalServices(options.environment);
  return withStackLock(dataDir, async () => {
    const parts = deadParts(readStackFile(dataDir));
    if (parts.size > 0) await startMissing({ ...options, external, parts });
    return parts.size > 0;
  });
}

/**
 * The addresses of a stack that runs, for its worker and for programs that must not start one. Throws a StackError
 * when a part is missing.
 */
export function readStackAddresses(dataDir: string, environment: Environment): StackAddresses {
  const addresses = addressesOf({
    dataDir,
    external: findExternalServices(environment),
    file: readStackFile(dataDir),
  });
  if (addresses === null) throw new StackError(`No stack runs in ${dataDir}. Start it with "assay up".`);
  return addresses;
}

type PartName = 'postgres' | 'temporal' | 'worker';

/** `parts`: those that may be started. */
type Wanted = StackOptions & { readonly external: ExternalServices; readonly parts: ReadonlySet<PartName> };

const allParts: ReadonlySet<PartName> = new Set(['postgres', 'temporal', 'worker']);

/** Parts that nobody has stopped and that do not run; none while the stack is being stopped. */
function deadParts(file: StackFile | null): ReadonlySet<PartName> {
  if (file === null || file.stopping) return new Set();
  return new Set([...allParts].filter((name) => file[name]?.process != null && !isAlive(file[name].process)));
}

/** The addresses when everything that is wanted runs already, else null. */
function describeRunning(wanted: Wanted): Omit<Stack, 'leave'> | null {
  const { dataDir, external, workerCommand } = wanted;
  const file = readStackFile(dataDir);
  if (file?.stopping) return null;
  const addresses = addressesOf({ dataDir, external, file });
  if (addresses === null) return null;
  if (workerCommand !== null && !hasReadyWorker({ dataDir, file, addresses })) return null;
  return { ...addresses, uiUrl: uiUrlOf(external, file) };
}

async function startMissing(wanted: Wanted): Promise<Omit<Stack, 'leave'>> {
  const { dataDir, external } = wanted;
  const former = readStackFile(dataDir);
  let file: StackFile = former === null ? emptyFile() : { ...withoutDeadParts(former), stopping: false };
  const save = (change: Partial<StackFile>) => {
    file = { ...file, ...change };
    writeStackFile(dataDir, file);
  };
  assertFreeSpace(dataDir);
  save({});
  await allOrFirstError([
    startPostgresPart({ wanted, file, save }),
    startTemporalPart({ wanted, file, save }),
  ]);
  const addresses = addressesOf({ dataDir, external, file });
  if (addresses === null)
    throw new StackError(`A part of the stack ended at once. Its log is in ${dataDir}/logs.`);
  if (wanted.workerCommand !== null && wanted.parts.has('worker'))
    await startWorkerPart({ wanted, file, save }, addresses);
  save({ version: assayVersion() });
  return { ...addresses, uiUrl: uiUrlOf(external, file) };
}

type PartStart = {
  readonly wanted: Wanted;
  readonly file: StackFile;
  readonly save: (change: Partial<StackFile>) => void;
};

async function startPostgresPart({ wanted, file, save }: PartStart): Promise<void> {
  if (!wanted.parts.has('postgres') || wanted.external.databaseUrl !== null || file.postgres?.process) return;
  wanted.note('Starting Postgres ...');
  const started = await startPostgres({ dataDir: wanted.dataDir, port: file.postgres?.port ?? null });
  if (file.postgres && started.port !== file.postgres.port)
    notePort(wanted, 'Postgres', [file.postgres.port, started.port]);
  save({ postgres: { process: started.process, port: started.port } });
}

async function startTemporalPart({ wanted, file, save }: PartStart): Promise<void> {
  if (!wanted.parts.has('temporal') || wanted.external.temporal !== null || file.temporal?.process) return;
  wanted.note('Starting Temporal ...');
  const { environment, note, dataDir } = wanted;
  const started = await startTemporal({ environment, note, dataDir, ports: file.temporal });
  if (file.temporal && started.port !== file.temporal.port)
    notePort(wanted, 'Temporal', [file.temporal.port, started.port]);
  save({ temporal: { process: started.process, port: started.port, uiPort: started.uiPort } });
}

function notePort({ note }: Wanted, name: string, [former, now]: readonly [number, number]): void {
  note(`Port ${former} is in use by another program; ${name} now listens on port ${now}.`);
}

async function startWorkerPart({ wanted, file, save }: PartStart, addresses: StackAddresses): Promise<void> {
  const { dataDir, environment, workerCommand, note } = wanted;
  const former = file.worker?.process ?? null;
  if (former !== null && isWorkerRight(file, addresses))
    return waitForWorker(dataDir, runningWorker(dataDir, former));
  note(
    former
      ? 'The worker is of another version or works elsewhere: it ends its calls ...'
      : 'Starting the worker ...',
  );
  await endProcess(former, { signal: 'SIGTERM', graceMs: workerDrainMs });
  const part = await startWorker({ dataDir, command: workerCommand ?? [], environment });
  const version = assayVersion();
  save({ version, worker: { process: part.process, version, target: workerTarget(addresses) } });
  await waitForWorker(dataDir, part);
}

type WorkerLook = {
  readonly dataDir: string;
  readonly file: StackFile | null;
  readonly addresses: StackAddresses;
};

function hasReadyWorker({ dataDir, file, addresses }: WorkerLook): boolean {
  const worker = file && withoutDeadParts(file).worker?.process;
  return file !== null && worker != null && isWorkerRight(file, addresses) && isWorkerReady(dataDir, worker);
}

/** Whether the recorded worker is of this version and works with these addresses. */
function isWorkerRight({ worker }: StackFile, addresses: StackAddresses): boolean {
  return worker?.version === assayVersion() && worker.target === workerTarget(addresses);
}

type Known = {
  readonly dataDir: string;
  readonly external: ExternalServices;
  readonly file: StackFile | null;
};

function addressesOf({ dataDir, external, file }: Known): StackAddresses | null {
  const living = file && withoutDeadParts(file);
  const databaseUrl =
    external.databaseUrl ??
    (living?.postgres?.process ? localDatabaseUrl(dataDir, living.postgres.port) : null);
  const temporal =
    external.temporal ??
    (living?.temporal?.process
      ? { temporalAddress: `127.0.0.1:${living.temporal.port}`, namespace: localNamespace }
      : null);
  if (databaseUrl === null || temporal === null) return null;
  return { databaseUrl, temporalAddress: temporal.temporalAddress, namespace: temporal.namespace };
}

function uiUrlOf(external: ExternalServices, file: StackFile | null): string | null {
  return external.temporal === null && file?.temporal ? `http://127.0.0.1:${file.temporal.uiPort}` : null;
}

function emptyFile(): StackFile {
  return {
    format: 1,
    version: assayVersion(),
    stopping: false,
    postgres: null,
    temporal: null,
    worker: null,
  };
}

/** Lets every part come to its end before the first error is thrown: none may be started behind the lock's back. */
async function allOrFirstError(parts: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(parts)).find((part) => part.status === 'rejected');
  if (failed) throw failed.reason;
}
