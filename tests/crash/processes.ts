import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that has to do with a folder, as `/proc` shows it. */
export type FoundProcess = { readonly pid: number; readonly command: string };

/** Crash tests look for processes in `/proc`; on a system without it they are skipped, and their names say so. */
export const hasProcessTable = existsSync('/proc/self/stat');

/** Every process whose command line, variables, program or current folder name `folder`; not this one. */
export function findProcesses(folder: string): readonly FoundProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => mentions(pid, folder))
    .map((pid) => ({
      pid: Number(pid),
      command: readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
    }));
}

/** Milliseconds since 1970 at which a process was started, by the clock ticks of its identity. */
export function toStartMs(startTime: string): number {
  const uptimeS = Number.parseFloat(readText('/proc/uptime'));
  // USER_HZ is 100 by the kernel's interface.
  return Date.now() - (uptimeS - Number(startTime) / 100) * 1_000;
}

function mentions(pid: string, folder: string): boolean {
  const texts = [readText(`/proc/${pid}/cmdline`), readText(`/proc/${pid}/environ`)];
  const links = [readLink(`/proc/${pid}/cwd`), readLink(`/proc/${pid}/exe`)];
  return [...texts, ...links].some((text) => text.includes(folder));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
