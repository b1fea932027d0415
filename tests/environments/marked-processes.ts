import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** A time of sleep that no other test uses, to find the process that sleeps from outside. */
export const makeMark = (): string => `9${randomUUID().replaceAll(/\D/g, '').slice(0, 7).padEnd(7, '1')}.5`;

/** How many processes of this machine have `mark` among their arguments. */
export function countRunning(mark: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const args = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
      return args.includes(mark) && stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
    } catch {
      return false;
    }
  }).length;
}
