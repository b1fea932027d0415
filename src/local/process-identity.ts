import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** The shape of an identity in a file. */
export const processIdentity = z.object({
  pid: z.number().int().positive(),
  startTime: z.string(),
  bootId: z.string(),
});

/**
 * A process that is not mistaken for a later one with the same number: start time (in the system's own notation, only
 * compared) and boot are part of its name.
 */
export type ProcessIdentity = Readonly<z.infer<typeof processIdentity>>;

/** The identity of a running process, or null when there is none (one that waits to be reaped counts as none). */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const startTime = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === null ? null : { pid, startTime, bootId: currentBootId() };
}

/** Whether exactly this process still runs. */
export function isAlive(identity: ProcessIdentity | null | undefined): boolean {
  if (!identity) return false;
  const now = identifyProcess(identity.pid);
  return now !== null && now.startTime === identity.startTime && now.bootId === identity.bootId;
}

/** The identity that a file holds as JSON, or null when it cannot be read as one. */
export function readIdentityFile(path: string): ProcessIdentity | null {
  try {
    return processIdentity.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** How long a process gets to end by itself, and the signal that asks it to. */
export type EndingOptions = { readonly signal: NodeJS.Signals; readonly graceMs: number };

/** Ends a process: the signal, `graceMs` of patience, then SIGKILL. Returns when it is gone; a dead one is fine. */
export async function endProcess(
  identity: ProcessIdentity | null | undefined,
  options: EndingOptions,
): Promise<void> {
  if (!identity || !isAlive(identity)) return;
  sendSignal(identity.pid, options.signal);
  if (await waitForEnd(identity, options.graceMs)) return;
  if (isAlive(identity)) sendSignal(identity.pid, 'SIGKILL');
  await waitForEnd(identity, 10_000);
}

/** Waits until the process has ended; false when `timeoutMs` passes first. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

let bootId: string | null = null;

function currentBootId(): string {
  bootId ??= process.platform === 'linux' ? readBootId() : commandOutput('sysctl', ['-n', 'kern.boottime']);
  return bootId;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

function startTimeFromProc(pid: number): string | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in parentheses may hold spaces, so fields are counted after its end: state is field 3, start time 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return fields[19] ?? null;
}

function startTimeFromPs(pid: number): string | null {
  const line = commandOutput('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
}

function commandOutput(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
