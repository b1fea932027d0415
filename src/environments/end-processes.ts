import { realpath } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedProcess } from './process-record.ts';
import { findWorkingDirectory, hasVariable, listProcesses } from './process-table.ts';
import type { RunningProcess } from './process-table.ts';

/** How the processes of a session, or of one command in it, are told from all others. */
export type Ownership = {
  /** Everything of a session, or what one of its commands started. */
  readonly scope: 'session' | 'command';
  /** `NAME=value` that each of them was started with. */
  readonly marker: string;
  /** Leaders of groups that were started, and times after which anything was. */
  readonly recorded: readonly RecordedProcess[];
  /** Directory of the session. */
  readonly root: string;
};

const TERM_GRACE_MS = 2_000;
const KILL_GRACE_MS = 5_000;
/** After so long of SIGKILL, what is left is being started anew. */
const STUCK_AFTER_MS = 1_000;

/**
 * Ends every process that is owned: SIGTERM, 2 s, SIGKILL, looking again until none is left.
 * Returns the pids that were signalled. Throws when some are still there after 7 s.
 */
export async function endOwnedProcesses(
  request: Ownership,
  onStuck?: () => Promise<void>,
): Promise<readonly number[]> {
  let helped = onStuck === undefined;
  const signalled = new Set<number>();
  if (request.recorded.length === 0) return [];
  // The process table shows real paths.
  const root = await realpath(request.root).catch(() => request.root);
  const ownership = { ...request, root };
  const startedAt = performance.now();
  for (let waitMs = 10; ; waitMs = Math.min(100, waitMs * 2)) {
    const owned = await findOwnedProcesses(ownership);
    if (owned.length === 0) return [...signalled];
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > TERM_GRACE_MS + KILL_GRACE_MS) {
      throw new Error(`Processes ${owned.map((entry) => entry.pid).join(', ')} did not end after SIGKILL.`);
    }
    const killing = elapsedMs >= TERM_GRACE_MS;
    if (!helped && elapsedMs > TERM_GRACE_MS + STUCK_AFTER_MS) {
      helped = true;
      await onStuck?.();
    }
    for (const { pid } of owned) {
      if (killing) sendSignal(pid, 'SIGKILL');
      else if (!signalled.has(pid)) sendSignal(pid, 'SIGTERM');
      signalled.add(pid);
    }
    await delay(waitMs);
  }
}

async function findOwnedProcesses(ownership: Ownership): Promise<readonly RunningProcess[]> {
  const all = (await listProcesses()).filter((entry) => entry.pid !== process.pid);
  const earliest = Math.min(...ownership.recorded.map((entry) => Number(entry.startTime)));
  // Start times are ticks on Linux; elsewhere they are dates, compared by nobody.
  const young = Number.isNaN(earliest) ? all : all.filter((entry) => Number(entry.startTime) >= earliest);
  const owned = young.filter((entry) => isOwned(entry, all, ownership));
  return withDescendants(owned, young);
}

function isOwned(entry: RunningProcess, all: readonly RunningProcess[], ownership: Ownership): boolean {
  if (hasVariable(entry.pid, ownership.marker)) return true;
  const leader = ownership.recorded.find(
    ({ pid }) => pid !== null && (pid === entry.groupId || pid === entry.sessionId),
  );
  if (leader === undefined && ownership.scope === 'command') return false;
  const holder = all.find(({ pid }) => pid === leader?.pid);
  if (holder !== undefined) return holder.startTime === leader?.startTime;
  // No mark and no living leader, whose number may have been given out again: where it works must tell.
  return worksInside(entry, ownership.root);
}

/** A daemon that cleared its environment and left its group; a person's own shell is not meant. */
function worksInside(entry: RunningProcess, root: string): boolean {
  if (entry.hasTerminal) return false;
  const directory = findWorkingDirectory(entry.pid);
  return directory !== null && `${directory}/`.startsWith(`${root}/`);
}

/** Children that took off the marker and left the group are found while their parent lives. */
function withDescendants(
  owned: readonly RunningProcess[],
  all: readonly RunningProcess[],
): readonly RunningProcess[] {
  const found = new Map(owned.map((entry) => [entry.pid, entry]));
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const entry of all) if (found.has(entry.parentPid)) found.set(entry.pid, entry);
  }
  return [...found.values()];
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself, or (a set-uid program) is out of reach and shows up in the next look.
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
