import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chown, lchown, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentAbilities } from '../domain/environment-abilities.ts';
import {
  namesOfLimits,
  NO_LIMITS,
  type EnforcedResources,
  type ResourceLimits,
} from '../domain/resources.ts';
import { toBubblewrapArguments } from './bubblewrap-arguments.ts';
import { BubblewrapSandbox } from './bubblewrap-sandbox.ts';
import {
  ControlGroup,
  findControlGroups,
  limitsOf,
  removeGroups,
  type ControlGroups,
} from './control-groups.ts';
import { findProgram, type SandboxPrograms } from './enter-sandbox.ts';
import { SessionLostError } from './environment.ts';
import type { EnvironmentProvider, EnvironmentSession, OpenRequest, SessionHandle } from './environment.ts';
import { endRecordedProcesses } from './host-session.ts';
import { endInit, findInit } from './sandbox-init.ts';
import { SandboxSession } from './sandbox-session.ts';
import { SessionFolders, toName, type FolderOptions, type SessionRecord } from './session-folders.ts';
import { copyTree } from './session-tree.ts';

export type BubblewrapOptions = FolderOptions & {
  /** Search path on which `bwrap`, `nsenter` and `setpriv` are looked for. */
  readonly path: string;
  /** Kept of a command's output; 2 MiB unless given. */
  readonly outputLimitBytes?: number;
};

/** User of commands when the worker is root: nobody's files are its own. */
const AGENT_USER = 60_500;

type Place = {
  readonly options: BubblewrapOptions;
  readonly folders: SessionFolders;
  readonly groups: ControlGroups | null;
  /** Null when the worker is not root. */
  readonly userId: number | null;
  /** By session id, so that all who attach share one. */
  readonly sandboxes: Map<string, BubblewrapSandbox>;
  abilities: EnvironmentAbilities | null;
};

/**
 * Sessions in namespaces of their own, made by `bwrap`: of this host they see its programs, read-only, and
 * nothing of homes, data and other sessions. Without root it needs user namespaces.
 */
export function createBubblewrapEnvironment(options: BubblewrapOptions): EnvironmentProvider {
  const folders = new SessionFolders('bubblewrap', options);
  const place: Place = {
    options,
    folders,
    groups: process.platform === 'linux' ? findControlGroups() : null,
    userId: process.getuid?.() === 0 ? AGENT_USER : null,
    sandboxes: new Map(),
    abilities: null,
  };
  return {
    kind: folders.kind,
    open: (request) => open(place, request),
    attach: (handle) => attach(place, handle),
    copy: (session, request) => copy(place, session, request),
    close: (handle) => close(place, handle),
    describe: () => Promise.resolve(look(place)),
    resolveImage: async (image) => checkRootDirectory(image),
    listSessions: () => folders.list(),
    removeLeftovers: () => removeLeftovers(place),
    endLeftProcesses: (handle) => endLeftProcesses(place, handle),
  };
}

async function open(place: Place, request: OpenRequest): Promise<EnvironmentSession> {
  const found = await place.folders.find(request.sessionId);
  const record = found ?? (await place.folders.create(request));
  if (found === null) await prepareFolders(place, record);
  const sandbox = toSandbox(place, record);
  await sandbox.ensure();
  return new SandboxSession(sandbox);
}

/** As root the agent is another user, to whom its directories belong and who has a name. */
async function prepareFolders({ userId, folders }: Place, record: SessionRecord): Promise<void> {
  const { root } = folders.toHandle(record.handle.sessionId);
  const accounts = join(record.request.image ?? '/', 'etc/passwd');
  const known = existsSync(accounts) ? readFileSync(accounts, 'utf8') : '';
  const id = userId ?? process.getuid?.() ?? 0;
  const line = new RegExp(`^[^:]*:[^:]*:${id}:`, 'm').test(known)
    ? ''
    : `agent:x:${id}:${id}::/work:/bin/sh\n`;
  await writeFile(join(root, 'passwd'), `${known.trimEnd()}\n${line}`, { mode: 0o644 });
  if (userId === null) return;
  for (const name of ['work', 'tmp']) await chown(join(root, name), userId, userId);
}

async function attach(place: Place, handle: SessionHandle): Promise<EnvironmentSession | null> {
  if (!place.folders.knows(handle)) return null;
  const record = await place.folders.find(handle.sessionId);
  return record === null ? null : new SandboxSession(toSandbox(place, record));
}

function toSandbox(place: Place, record: SessionRecord): BubblewrapSandbox {
  const { request } = record;
  const { sessionId } = record.handle;
  const known = place.sandboxes.get(sessionId);
  if (known !== undefined) return known;
  const limits = request.resources ?? NO_LIMITS;
  const group = toGroup(place, sessionId, limits);
  const sandbox = new BubblewrapSandbox({
    handle: place.folders.toHandle(sessionId),
    request,
    programs: findPrograms(place.options.path),
    pipes: place.folders.pipes,
    outputLimitBytes: place.options.outputLimitBytes,
    userId: place.userId,
    group,
    enforced: enforce(group, limits),
  });
  place.sandboxes.set(sessionId, sandbox);
  return sandbox;
}

const toGroupName = (place: Place, sessionId: string): string => `${toPrefix(place)}${toName(sessionId)}`;
const toPrefix = ({ options }: Place): string => `assay-${options.installationId}-`;

function toGroup(place: Place, sessionId: string, limits: ResourceLimits): ControlGroup | null {
  if (place.groups === null) return null;
  return namesOfLimits({ ...limits, diskBytes: null }).length === 0
    ? null
    : new ControlGroup(place.groups, toGroupName(place, sessionId));
}

/** Without control groups only the memory of each single process can be limited. */
function enforce(group: ControlGroup | null, limits: ResourceLimits): EnforcedResources {
  if (group !== null) return group.create(limits);
  const { memoryBytes, diskBytes } = limits;
  const by = memoryBytes === null && diskBytes === null ? null : 'limits of each process';
  return { ...NO_LIMITS, memoryBytes, diskBytes, by };
}

async function copy(
  place: Place,
  session: EnvironmentSession,
  request: OpenRequest,
): Promise<EnvironmentSession> {
  const { folders, userId } = place;
  const record = await folders.find(session.handle.sessionId);
  if (record === null) throw new SessionLostError('The directory of the session is gone.');
  await session.endProcesses();
  await close(place, folders.toHandle(request.sessionId));
  const target = await open(place, { ...record.request, ...request });
  await copyTree(await findWork(place, record.handle.sessionId), await findWork(place, request.sessionId));
  if (userId !== null) await giveAway(await findWork(place, request.sessionId), userId);
  return target;
}

/** The working directory as this host reaches it; of files in memory, through the sandbox's process 1. */
async function findWork({ folders }: Place, sessionId: string): Promise<string> {
  const { root } = folders.toHandle(sessionId);
  const record = await folders.find(sessionId);
  if ((record?.request.resources?.diskBytes ?? null) === null) return join(root, 'work');
  const init = await findInit(root);
  if (init === null)
    throw new SessionLostError('The sandbox ended, and its files, which were in memory, are gone.');
  return `/proc/${init.pid}/root/work`;
}

async function giveAway(path: string, userId: number): Promise<void> {
  await lchown(path, userId, userId);
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), userId, userId);
  }
}

async function close(place: Place, handle: SessionHandle): Promise<void> {
  const { folders, groups, sandboxes } = place;
  if (!folders.knows(handle)) return;
  const own = folders.toHandle(handle.sessionId);
  await sandboxes.get(handle.sessionId)?.end();
  await endInit(own.root);
  await endRecordedProcesses(own);
  sandboxes.delete(handle.sessionId);
  if (groups !== null) new ControlGroup(groups, toGroupName(place, handle.sessionId)).remove();
  await folders.remove(handle.sessionId);
}

async function removeLeftovers(place: Place): Promise<void> {
  await place.folders.removeLeftovers();
  const names = (await place.folders.list()).map(({ sessionId }) => toGroupName(place, sessionId));
  if (place.groups !== null) removeGroups(place.groups, toPrefix(place), new Set(names));
}

async function endLeftProcesses(place: Place, handle: SessionHandle): Promise<boolean> {
  const session = await attach(place, handle);
  const ended = await endRecordedProcesses(place.folders.toHandle(handle.sessionId));
  await session?.endProcesses();
  return ended.length > 0;
}

/** A directory is what it is: there is no digest of it. */
function checkRootDirectory(image: string | null): string | null {
  if (image === null) return null;
  if (image.startsWith('/') && existsSync(image) && statSync(image).isDirectory()) return image;
  throw new Error(`environment.root "${image}" is no directory of this host: give an absolute path of one`);
}

function findPrograms(path: string): SandboxPrograms {
  const found = { bwrap: findProgram('bwrap', path), nsenter: findProgram('nsenter', path) };
  const setpriv = findProgram('setpriv', path);
  const { bwrap, nsenter } = found;
  if (bwrap === null) throw new Error('bubblewrap needs the program bwrap: install the package "bubblewrap"');
  if (nsenter === null || setpriv === null) {
    throw new Error('bubblewrap needs the programs nsenter and setpriv: install the package "util-linux"');
  }
  return { bwrap, nsenter, setpriv };
}

/** Tried until it works once: what is missing may be installed or allowed meanwhile. */
function look(place: Place): EnvironmentAbilities {
  if (place.abilities === null || place.abilities.problem !== null) place.abilities = describe(place);
  return place.abilities;
}

function describe(place: Place): EnvironmentAbilities {
  const resources = [
    ...limitsOf(place.groups),
    ...(place.groups === null ? (['memory'] as const) : []),
    'disk' as const,
  ];
  const abilities = {
    networks: ['public', 'none', 'allowlist'] as const,
    switchesNetwork: true,
    reachesWorker: true,
    resources,
  };
  const notes =
    place.groups === null ? ['no control groups: memory is limited for each process, not together'] : [];
  return { problem: findProblem(place), ...abilities, notes };
}

function findProblem(place: Place): string | null {
  if (process.platform !== 'linux') return 'bubblewrap needs Linux: use docker or host';
  try {
    const { bwrap } = findPrograms(place.options.path);
    const args = toBubblewrapArguments({
      rootDirectory: null,
      work: '/tmp',
      temporary: '/tmp',
      accounts: '/etc/passwd',
      diskBytes: null,
      isRoot: place.userId !== null,
    });
    const tried = spawnSync(bwrap, [...args, '--', '/bin/true'], { encoding: 'utf8', timeout: 20_000 });
    if (tried.status === 0) return null;
    return `bwrap makes no sandbox here: ${tried.stderr.trim()}; allow user namespaces for it, or use docker`;
  } catch (error) {
    return (error as Error).message;
  }
}
