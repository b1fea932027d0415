import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProcess, parseStartTime, readBootId } from './process-table.ts';

/** One line of `processes.jsonl`. Without `pid` it says that commands may exist from this time on. */
export type RecordedProcess = {
  readonly pid: number | null;
  /** Of the process, as the process table shows it. */
  readonly startTime: string;
  readonly bootId: string;
};

/** Where a start is recorded: the session's directory, and the boot of the machine. */
export type RecordedPlace = { readonly root: string; readonly bootId: string };

/** Clock ticks a second in `/proc`: USER_HZ, fixed at 100 by the kernel's interface. */
const TICKS_PER_S = 100;

const toPath = (root: string): string => join(root, 'processes.jsonl');

function append(root: string, entry: RecordedProcess): void {
  appendFileSync(toPath(root), `${JSON.stringify(entry)}\n`, { mode: 0o600 });
}

/** A second before now, on the clock of the process table; 0 where there is no `/proc`. */
function readTicks(): number {
  if (process.platform !== 'linux') return 0;
  return Math.floor((Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) - 1) * TICKS_PER_S);
}

/** Called before the first command, so that one whose record was lost to a crash is still looked for. */
export function recordBeforeStart(root: string): void {
  const bootId = readBootId();
  if (existsSync(toPath(root))) return;
  append(root, { pid: null, startTime: String(readTicks()), bootId });
}

/**
 * Called in the same turn as the spawn: on Linux the line is written before the event loop goes on, when
 * even a process that has ended is still in the table.
 */
export async function recordStart({ root, bootId }: RecordedPlace, pid: number): Promise<void> {
  if (process.platform === 'linux') {
    const startTime = parseStartTime(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    append(root, { pid, startTime, bootId });
    return;
  }
  const found = await findProcess(pid);
  if (found !== null) append(root, { pid, startTime: found.startTime, bootId });
}

function parseLine(line: string): readonly RecordedProcess[] {
  try {
    const value = JSON.parse(line) as Partial<RecordedProcess> | null;
    if (typeof value?.startTime !== 'string' || typeof value.bootId !== 'string') return [];
    return [
      {
        pid: typeof value.pid === 'number' ? value.pid : null,
        startTime: value.startTime,
        bootId: value.bootId,
      },
    ];
  } catch {
    // The last line of a worker that was killed while it wrote.
    return [];
  }
}

/** What commands of the session were started since this boot of the machine; empty for a session without any. */
export async function loadRecordedProcesses(root: string): Promise<readonly RecordedProcess[]> {
  const text = await readFile(toPath(root), 'utf8').catch(() => '');
  const bootId = readBootId();
  return text
    .split('\n')
    .flatMap(parseLine)
    .filter((entry) => entry.bootId === bootId);
}
