import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';

/** One running process; zombies are not listed. */
export type RunningProcess = {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Started from a terminal, so by a person: commands of a session have none. */
  readonly hasTerminal: boolean;
  /** With the boot id it tells a process from a later one with the same pid. */
  readonly startTime: string;
};

const LINUX = process.platform === 'linux';

/** Fields of `/proc/<pid>/stat` after the command's name, which may hold spaces and brackets: proc(5). */
const splitStat = (text: string): readonly string[] => text.slice(text.lastIndexOf(')') + 2).split(' ');

/** Start time in clock ticks since boot, from the text of `/proc/<pid>/stat`; empty when unreadable. */
export const parseStartTime = (text: string): string => splitStat(text)[19] ?? '';

function parseStat(pid: number, text: string): RunningProcess | null {
  const [state, parentPid, groupId, sessionId, terminal] = splitStat(text);
  const startTime = parseStartTime(text);
  if (startTime === '' || state === 'Z' || state === 'X') return null;
  return {
    pid,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    hasTerminal: terminal !== '0',
    startTime,
  };
}

/** Files of `/proc` are small and never wait: read at once they cost a tenth of an asynchronous read. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It ended, or belongs to somebody else.
    return null;
  }
}

/** After so many reads the event loop gets a turn. */
const BATCH = 200;

async function listLinux(): Promise<readonly RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: RunningProcess[] = [];
  for (const [index, pid] of pids.entries()) {
    if (index % BATCH === BATCH - 1) await setImmediate();
    const text = readText(`/proc/${pid}/stat`);
    const entry = text === null ? null : parseStat(pid, text);
    if (entry !== null) found.push(entry);
  }
  return found;
}

async function listByPs(): Promise<readonly RunningProcess[]> {
  const columns = ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='];
  const { stdout } = await promisify(execFile)('ps', columns, {
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
  });
  return stdout.split('\n').flatMap((line) => {
    const [pid, parentPid, groupId, state, ...started] = line.trim().split(/\s+/);
    if (pid === undefined || pid === '' || state?.startsWith('Z') === true) return [];
    const startTime = started.join(' ');
    return [
      {
        pid: Number(pid),
        parentPid: Number(parentPid),
        groupId: Number(groupId),
        sessionId: -1,
        hasTerminal: false,
        startTime,
      },
    ];
  });
}

/** All processes that this user can see. */
export const listProcesses = (): Promise<readonly RunningProcess[]> => (LINUX ? listLinux() : listByPs());

/** Null when there is no such process. */
export async function findProcess(pid: number): Promise<RunningProcess | null> {
  if (!LINUX) return (await listByPs()).find((entry) => entry.pid === pid) ?? null;
  const text = readText(`/proc/${pid}/stat`);
  return text === null ? null : parseStat(pid, text);
}

/** Whether the process was started with `variable` (`NAME=value`); false where that cannot be seen. */
export function hasVariable(pid: number, variable: string): boolean {
  if (!LINUX) return false;
  const text = readText(`/proc/${pid}/environ`);
  // Read as bytes, so compared as bytes.
  const bytes = Buffer.from(variable, 'utf8').toString('latin1');
  // Most processes do not have it: look before splitting.
  return text !== null && text.includes(bytes) && text.split('\0').includes(bytes);
}

/** Directory that the process works in; null where that cannot be seen. */
export function findWorkingDirectory(pid: number): string | null {
  if (!LINUX) return null;
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

let bootId: string | undefined;

/** Changes with each start of the machine; empty where the system does not tell. */
export function readBootId(): string {
  bootId ??= readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return bootId;
}
