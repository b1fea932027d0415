import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** CPU seconds and resident memory of a process and its descendants. */
export function measureTree(root: number): { readonly cpuSeconds: number; readonly memoryMb: number } {
  const stats = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const fields = readStat(name);
        return fields === null ? [] : [[Number(name), fields] as const];
      }),
  );
  let ticks = 0;
  let pages = 0;
  for (const [pid, fields] of stats) {
    if (!descends(pid, root, stats)) continue;
    ticks += countTicks(fields);
    pages += Number(fields[21]);
  }
  return { cpuSeconds: ticks / TICKS_PER_SECOND, memoryMb: (pages * 4096) / 2 ** 20 };
}

/** CPU seconds of one process and of its children that have ended. */
export const readCpuSeconds = (pid: number): number =>
  countTicks(readStat(String(pid)) ?? []) / TICKS_PER_SECOND;

/** Its own and, in its account, those of its children that have ended. */
const countTicks = (fields: readonly string[]): number =>
  [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);

/** Resident memory of one process, 0 when it has gone. */
export const readResidentMb = (pid: number): number =>
  (Number(readStat(String(pid))?.[21] ?? 0) * 4096) / 2 ** 20;

function descends(pid: number, root: number, stats: ReadonlyMap<number, readonly string[]>): boolean {
  for (let at = pid; at > 1; at = Number(stats.get(at)?.[1] ?? 0)) if (at === root) return true;
  return false;
}

/** Fields of `/proc/<pid>/stat` after the command's name; null when the process has gone. */
function readStat(pid: string): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
