import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { toMark } from '../../src/environments/session-folders.ts';
import { findProcesses } from '../crash/processes.ts';
import type { TestEngine } from '../environments/docker-subject.ts';
import { countRunning } from '../environments/marked-processes.ts';
import { findMarked } from './leak-kills.ts';

export type LookedAt = {
  readonly db: pg.Pool;
  readonly engine: TestEngine;
  readonly dataDir: string;
  readonly hostId: string;
  readonly runId: string;
  /** An argument of the agents' processes that nothing else has. */
  readonly mark: string;
  /** Containers and networks that were seen while the run went on, by id. */
  readonly seen: ReadonlySet<string>;
};

/** Everything of a run that is still there, one line each. */
export async function findLeftBehind(place: LookedAt): Promise<readonly string[]> {
  return [
    ...(await findProcessesOf(place)),
    ...findFolders(place.dataDir),
    ...findGroups(place),
    ...(await findInEngine(place.engine)),
    ...findBridges(place.seen),
    ...(await findRows(place.db, place.runId)),
  ];
}

async function findProcessesOf({ db, dataDir, runId, mark, seen }: LookedAt): Promise<readonly string[]> {
  const { rows } = await db.query<{ sessionId: string; root: string; kind: string; hostId: string }>(
    `select session_id as "sessionId", root, kind, host_id as "hostId" from environment_sessions
      where run_id = $1 and root is not null`,
    [runId],
  );
  const marked = rows.flatMap((row) => findMarked(toMark(row)));
  const working = FOLDERS.flatMap((name) => findProcesses(join(dataDir, name)));
  return [
    ...Array.from({ length: countRunning(mark) }, () => 'process: a sleep of an agent'),
    ...marked.map((pid) => `process: ${pid} has the mark of a session`),
    ...working.map(({ pid, command }) => `process: ${pid} ${command}`),
    // The one that stands above a container's first process, and what has a container's group.
    ...[...seen].flatMap((id) => findProcesses(id)).map(({ pid, command }) => `process: ${pid} ${command}`),
    ...findInSandboxes(dataDir).map((pid) => `process: ${pid} is in a sandbox`),
  ];
}

/** What is in a sandbox has its directories mounted, whatever it calls itself. */
const findInSandboxes = (dataDir: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readText(`/proc/${pid}/mountinfo`).includes(join(dataDir, 'sandboxes')));

const FOLDERS = ['sessions', 'sandboxes', 'containers', 'mcp'];

/** But the pipes that a living worker keeps ready. */
const findFolders = (dataDir: string): readonly string[] =>
  FOLDERS.flatMap((name) => {
    const path = join(dataDir, name);
    const names = existsSync(path) ? readdirSync(path) : [];
    return names.filter((one) => one !== '.pipes').map((one) => `folder: ${name}/${one}`);
  });

const GROUPS = ['memory', 'pids', 'cpu', ''].map((name) => join('/sys/fs/cgroup', name));

/** Of sandboxes by the host's id in their names, of containers by the ids that were seen. */
function findGroups({ hostId, seen }: LookedAt): readonly string[] {
  const isOwn = (name: string): boolean => name.includes(`assay-${hostId}-`) || isSeen(seen, name);
  const places = GROUPS.flatMap((path) => [path, join(path, 'docker'), join(path, 'system.slice')]);
  return places
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .filter(isOwn)
    .map((path) => `control group: ${path}`);
}

const isSeen = (seen: ReadonlySet<string>, name: string): boolean => {
  const id = /[0-9a-f]{64}/.exec(name)?.[0];
  return id !== undefined && seen.has(id);
};

async function findInEngine({ docker }: TestEngine): Promise<readonly string[]> {
  const containers = await docker.listContainers({ all: true });
  const networks = (await docker.listNetworks()).filter(({ Name }) => Name.startsWith('assay-'));
  const volumes = (await docker.listVolumes()).Volumes ?? [];
  return [
    ...containers.map(({ Names, State }) => `container: ${Names.join()} ${State}`),
    ...networks.map(({ Name }) => `network: ${Name}`),
    ...volumes.map(({ Name }) => `volume: ${Name}`),
  ];
}

const findBridges = (seen: ReadonlySet<string>): readonly string[] =>
  readdirSync('/sys/class/net')
    .filter((name) => [...seen].some((id) => name === `br-${id.slice(0, 12)}`))
    .map((name) => `network: bridge ${name}`);

/** Rows that say of something that it goes on. */
const OPEN_ROWS = `select 'session ' || session_id || ' is ' || state as line from environment_sessions
    where run_id = $1 and state <> 'closed'
  union all select 'model call of task ' || task || ' is started' from model_calls where run_id = $1 and state = 'started'
  union all select 'open calls in ' || scope from reservations where run_id = $1 and (open_calls > 0 or reserved_usd > 0)
  union all select 'run is ' || state from runs where run_id = $1 and finished_at is null`;

async function findRows(db: pg.Pool, runId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ line: string }>(OPEN_ROWS, [runId]);
  return rows.map(({ line }) => `row: ${line}`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
