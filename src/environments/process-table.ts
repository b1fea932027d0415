import { execFile } from 'node:child_process';
import { readFile, readdir, readlink } from 'node:fs/promises';
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

const readText = async (path: string): Promise<string | null> => readFile(path, 'latin1').catch(() => null);

async function listLinux(): Promise<readonly RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readText(`/proc/${pid}/stat`);
      return text === null ? null : parseStat(pid, text);
    }),
  );
  return found.filter((entry) => entry !== null);
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
  const text = await readText(`/proc/${pid}/stat`);
  return text === null ? null : parseStat(pid, text);
}

/** Whether the process was started with `variable` (`NAME=value`); false where that cannot be seen. */
export async function hasVariable(pid: number, variable: string): Promise<boolean> {
  if (!LINUX) return false;
  const text = await readFile(`/proc/${pid}/environ`).catch(() => null);
  // Most processes do not have it: look before splitting.
  if (text === null || !text.includes(variable)) return false;
  return text.toString('utf8').split('\0').includes(variable);
}

/** Directory that the process works in; null where that cannot be seen. */
export const findWorkingDirectory = async (pid: number): Promise<string | null> =>
  LINUX ? readlink(`/proc/${pid}/cwd`).catch(() => null) : null;

let bootId: Promise<string> | undefined;

/** Changes with each start of the machine; empty where the system does not tell. */
export function readBootId(): Promise<string> {
  bootId ??= readText('/proc/sys/kernel/random/boot_id').then((text) => text?.trim() ?? '');
  return bootId;
}
