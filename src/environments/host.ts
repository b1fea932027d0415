import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentAbilities } from '../domain/environment-abilities.ts';
import { SessionLostError } from './environment.ts';
import type { EnvironmentProvider, EnvironmentSession, OpenRequest, SessionHandle } from './environment.ts';
import { endRecordedProcesses, HostSession } from './host-session.ts';
import { SessionFolders, type FolderOptions, type SessionRecord } from './session-folders.ts';
import { SessionServers } from './session-servers.ts';
import { copyTree } from './session-tree.ts';

export type HostOptions = FolderOptions & {
  /** Search path of commands; the system's own directories unless given. */
  readonly path?: string;
  /** Kept of a command's output; 2 MiB unless given. */
  readonly outputLimitBytes?: number;
};

export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
export const DEFAULT_OUTPUT_LIMIT_BYTES = 2 * 1024 * 1024;

type Place = {
  readonly options: HostOptions;
  readonly folders: SessionFolders;
  /** By session id, so that all who attach share one. */
  readonly servers: Map<string, SessionServers>;
};

/** Sessions that are directories of this machine. No isolation: a command can reach whatever its user can. */
export function createHostEnvironment(options: HostOptions): EnvironmentProvider {
  const folders = new SessionFolders('host', options);
  const place: Place = { options, folders, servers: new Map() };
  return {
    kind: folders.kind,
    open: (request) => open(place, request),
    attach: (handle) => attach(place, handle),
    copy: (session, request) => copy(place, session, request),
    close: (handle) => close(place, handle),
    describe: () => Promise.resolve(ABILITIES),
    resolveImage: () => Promise.resolve(null),
    listSessions: () => folders.list(),
    removeLeftovers: () => folders.removeLeftovers(),
    endLeftProcesses: async (handle) => (await endRecordedProcesses(handle)).length > 0,
  };
}

const ABILITIES: EnvironmentAbilities = {
  problem: null,
  networks: ['public'],
  switchesNetwork: false,
  reachesWorker: true,
  resources: [],
  notes: ['host runs commands as the worker itself: it cuts no network and holds no limit'],
};

async function open(place: Place, request: OpenRequest): Promise<EnvironmentSession> {
  const record = (await place.folders.find(request.sessionId)) ?? (await place.folders.create(request));
  return toSession(place, record);
}

async function attach(place: Place, handle: SessionHandle): Promise<EnvironmentSession | null> {
  if (!place.folders.knows(handle)) return null;
  const record = await place.folders.find(handle.sessionId);
  return record === null ? null : toSession(place, record);
}

function toSession({ options, folders, servers }: Place, record: SessionRecord): EnvironmentSession {
  const { sessionId } = record.handle;
  const own = servers.get(sessionId) ?? new SessionServers();
  servers.set(sessionId, own);
  return new HostSession(folders.toHandle(sessionId), {
    servers: own,
    pipes: folders.pipes,
    path: options.path ?? SYSTEM_PATH,
    outputLimitBytes: options.outputLimitBytes ?? DEFAULT_OUTPUT_LIMIT_BYTES,
    variables: record.request.variables,
  });
}

async function copy(
  place: Place,
  session: EnvironmentSession,
  request: OpenRequest,
): Promise<EnvironmentSession> {
  const work = join(session.handle.root, 'work');
  if (!existsSync(work)) throw new SessionLostError('The directory of the session is gone.');
  await session.endProcesses();
  await close(place, place.folders.toHandle(request.sessionId));
  const target = await open(place, request);
  await copyTree(work, join(target.handle.root, 'work'));
  return target;
}

async function close({ folders, servers }: Place, handle: SessionHandle): Promise<void> {
  if (!folders.knows(handle)) return;
  servers.get(handle.sessionId)?.close();
  servers.delete(handle.sessionId);
  await endRecordedProcesses(folders.toHandle(handle.sessionId));
  await folders.remove(handle.sessionId);
}
