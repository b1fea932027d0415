import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SessionLostError } from './environment.ts';
import type { EnvironmentProvider, EnvironmentSession, OpenRequest, SessionHandle } from './environment.ts';
import { endRecordedProcesses, HostSession, SESSION_DIRECTORIES } from './host-session.ts';
import { OutputPipes } from './output-pipe.ts';
import { readBootId } from './process-table.ts';
import { copyTree, removeStubborn, removeTree } from './session-tree.ts';

export type HostOptions = {
  /** Directory that holds the sessions; made when missing. */
  readonly root: string;
  /** Stable across restarts of the worker on this machine. */
  readonly hostId: string;
  /** Sessions of other installations in the same directory are left alone. */
  readonly installationId: string;
  /** Search path of commands; the system's own directories unless given. */
  readonly path?: string;
  /** Kept of a command's output; 2 MiB unless given. */
  readonly outputLimitBytes?: number;
};

/** The environment `host`, with what its reaper needs. */
export interface HostEnvironment extends EnvironmentProvider {
  /** Sessions of this installation that lie on this host, open or left behind. */
  listSessions(): Promise<readonly SessionHandle[]>;
  /** Removes what was cut off while it was made or removed, or lost its record, after ten minutes. */
  removeLeftovers(): Promise<void>;
}

type SessionRecord = {
  readonly format: 1;
  readonly handle: SessionHandle;
  readonly installationId: string;
  readonly bootId: string;
  readonly variables: { readonly [name: string]: string };
  readonly openedAt: string;
};

const KIND = 'host';
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const DEFAULT_OUTPUT_LIMIT_BYTES = 2 * 1024 * 1024;
const LEFTOVER_AGE_MS = 600_000;
const RECORD = 'session.json';
const PIPES = '.pipes';

/**
 * Sessions that are directories of this machine: `<root>/<hash of the id>/work` for the agent, records,
 * temporary files and graders' files beside it. No isolation: a command can reach whatever its user can.
 */
export function createHostEnvironment(options: HostOptions): HostEnvironment {
  const root = resolve(options.root);
  const place: Place = { ...options, root, pipes: new OutputPipes(join(root, PIPES)) };
  return {
    kind: KIND,
    open: (request) => open(place, request),
    attach: (handle) => attach(place, handle),
    copy: (session, request) => copy(place, session, request),
    close: (handle) => close(place, handle),
    listSessions: () => listSessions(place),
    removeLeftovers: () => removeLeftovers(place),
  };
}

type Place = HostOptions & { readonly pipes: OutputPipes };

const toName = (sessionId: string): string =>
  createHash('sha256').update(sessionId).digest('hex').slice(0, 24);

const toHandle = (place: Place, sessionId: string): SessionHandle => ({
  sessionId,
  kind: KIND,
  hostId: place.hostId,
  root: join(place.root, toName(sessionId)),
});

async function open(place: Place, request: OpenRequest): Promise<EnvironmentSession> {
  const handle = toHandle(place, request.sessionId);
  const existing = await attach(place, handle);
  if (existing !== null) return existing;
  const record: SessionRecord = {
    format: 1,
    handle,
    installationId: place.installationId,
    bootId: readBootId(),
    variables: request.variables,
    openedAt: new Date().toISOString(),
  };
  await createDirectories(place, record);
  return toSession(place, record);
}

/** Made under another name and renamed: a session is there with its record or not at all. */
async function createDirectories(place: Place, record: SessionRecord): Promise<void> {
  const making = join(place.root, `.opening-${toName(record.handle.sessionId)}-${randomUUID()}`);
  await mkdir(place.root, { recursive: true, mode: 0o700 });
  await mkdir(making, { mode: 0o700 });
  try {
    for (const name of SESSION_DIRECTORIES) await mkdir(join(making, name), { mode: 0o700 });
    await writeFile(join(making, RECORD), JSON.stringify(record), { mode: 0o600 });
    await rename(making, record.handle.root);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    // Another open of the same session was faster.
    if ((await loadRecord(record.handle.root)) === null) throw error;
  }
}

async function attach(place: Place, handle: SessionHandle): Promise<EnvironmentSession | null> {
  if (handle.kind !== KIND || handle.hostId !== place.hostId) return null;
  const record = await loadRecord(toHandle(place, handle.sessionId).root);
  return record === null || record.handle.sessionId !== handle.sessionId ? null : toSession(place, record);
}

/** The directory is computed, not read: the sessions folder may have been moved. */
const toSession = (place: Place, record: SessionRecord): EnvironmentSession =>
  new HostSession(toHandle(place, record.handle.sessionId), {
    pipes: place.pipes,
    path: place.path ?? SYSTEM_PATH,
    outputLimitBytes: place.outputLimitBytes ?? DEFAULT_OUTPUT_LIMIT_BYTES,
    variables: record.variables,
  });

async function copy(
  place: Place,
  session: EnvironmentSession,
  request: OpenRequest,
): Promise<EnvironmentSession> {
  const work = join(session.handle.root, 'work');
  if (!existsSync(work)) throw new SessionLostError('The directory of the session is gone.');
  await session.endProcesses();
  await close(place, toHandle(place, request.sessionId));
  const target = await open(place, request);
  await copyTree(work, join(target.handle.root, 'work'));
  return target;
}

async function close(place: Place, handle: SessionHandle): Promise<void> {
  if (handle.kind !== KIND || handle.hostId !== place.hostId) return;
  const own = toHandle(place, handle.sessionId);
  const name = toName(handle.sessionId);
  await endRecordedProcesses(own);
  await removeTree(own.root, join(place.root, `.closing-${name}-${randomUUID()}`));
  const partial = await listNames(place);
  for (const entry of partial) {
    if (entry.startsWith(`.opening-${name}-`) || entry.startsWith(`.closing-${name}-`)) {
      await removeStubborn(join(place.root, entry));
    }
  }
}

const listNames = (place: Place): Promise<readonly string[]> => readdir(place.root).catch(() => []);

async function listSessions(place: Place): Promise<readonly SessionHandle[]> {
  const names = (await listNames(place)).filter((name) => !name.startsWith('.'));
  const records = await Promise.all(names.map((name) => loadRecord(join(place.root, name))));
  return records
    .filter((record) => record !== null)
    .filter((record) => record.installationId === place.installationId)
    .filter((record) => record.handle.hostId === place.hostId)
    .map((record) => toHandle(place, record.handle.sessionId));
}

async function removeLeftovers(place: Place): Promise<void> {
  // A worker that was killed leaves the pipes that it had not used yet.
  const pipes = await readdir(join(place.root, PIPES)).catch(() => []);
  const sessions = (await listNames(place)).filter((name) => isLeftover(place, name));
  for (const name of [...pipes.map((pipe) => join(PIPES, pipe)), ...sessions]) {
    const path = join(place.root, name);
    const state = await stat(path).catch(() => null);
    if (state !== null && Date.now() - state.mtimeMs > LEFTOVER_AGE_MS) await removeStubborn(path);
  }
}

function isLeftover(place: Place, name: string): boolean {
  if (/^\.(opening|closing)-/.test(name)) return true;
  // A session whose commands deleted its record can be attached to by nobody.
  return /^[0-9a-f]{24}$/.test(name) && !existsSync(join(place.root, name, RECORD));
}

/** Null when there is no session, or its record was destroyed. */
async function loadRecord(root: string): Promise<SessionRecord | null> {
  try {
    const record = JSON.parse(await readFile(join(root, RECORD), 'utf8')) as Partial<SessionRecord> | null;
    if (record?.format !== 1 || record.handle === undefined || record.variables === undefined) return null;
    return record as SessionRecord;
  } catch {
    return null;
  }
}
