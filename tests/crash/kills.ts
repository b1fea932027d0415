import { setTimeout as sleep } from 'node:timers/promises';
import { drawFrom } from '../../src/domain/stable-hash.ts';
import { isAlive, type ProcessIdentity } from '../../src/local/process-identity.ts';
import { readStackFile, type StackFile } from '../../src/local/stack-file.ts';
import { toStartMs } from './processes.ts';

/** What is killed. `all` = the command, the worker and both servers at once. */
export const VICTIMS = ['worker', 'command', 'postgres', 'temporal', 'all'] as const;
export type Victim = (typeof VICTIMS)[number];

/** When to kill: after so many requests of the run, and then some milliseconds. */
export type Moment = { readonly afterRequests: number; readonly delayMs: number };

export type KillPlan = {
  readonly victim: Victim;
  readonly moments: readonly Moment[];
  /** A command shows the run and revives what dies; without it the worker revives the servers. */
  readonly attended: boolean;
};

/** The same plan for the same seed: one or two kills anywhere between the first and the last request; odd ones attended. */
export function planKills(victim: Victim, seed: number, requests: number): KillPlan {
  const draw = (what: string) => drawFrom(`${victim}/${what}`, seed);
  const count = draw('count') < 0.7 ? 1 : 2;
  const moments = Array.from({ length: count }, (_, index) => ({
    afterRequests: Math.floor(draw(`after ${index}`) * (requests - 5)),
    delayMs: Math.floor(draw(`delay ${index}`) * 400),
  })).sort((a, b) => a.afterRequests - b.afterRequests);
  const attended = victim === 'command' || victim === 'all' || seed % 2 === 1;
  return { victim, moments, attended };
}

const PARTS = ['worker', 'postgres', 'temporal'] as const;
export type Part = (typeof PARTS)[number];

export const partsOf = (victim: Victim): readonly Part[] =>
  victim === 'all' ? PARTS : PARTS.filter((part) => part === victim);

/** The running parts of the stack that the victim names, as the stack itself recorded them when it started them. */
export function identifyParts(dataDir: string, victim: Victim): ReadonlyMap<Part, ProcessIdentity> {
  const file = readStackFile(dataDir);
  const found = partsOf(victim).map((part) => [part, file?.[part]?.process ?? null] as const);
  return new Map(found.filter((entry): entry is [Part, ProcessIdentity] => isAlive(entry[1])));
}

/** Kills every process at once; one that has ended by itself is fine. */
export function killNow(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
}

/** When the last killed part was started again, in milliseconds since 1970, and the new worker if there is one. */
export type Revival = { readonly atMs: number; readonly workerPid: number | null };

/** Waits until the stack has another process for each killed part; null when `signal` comes first. */
export async function waitForRevival(
  dataDir: string,
  killed: ReadonlyMap<Part, ProcessIdentity>,
  signal: AbortSignal,
): Promise<Revival | null> {
  while (!signal.aborted) {
    const file = readStackFile(dataDir);
    const started = [...killed].map(([part, former]) => revived(file, part, former));
    if (started.every((identity) => identity !== null)) {
      return {
        atMs: Math.max(...started.map(({ startTime }) => toStartMs(startTime))),
        workerPid: killed.has('worker') ? (file?.worker?.process?.pid ?? null) : null,
      };
    }
    await sleep(50);
  }
  return null;
}

function revived(file: StackFile | null, part: Part, former: ProcessIdentity): ProcessIdentity | null {
  const now = file?.[part]?.process ?? null;
  return now !== null && now.startTime !== former.startTime && isAlive(now) ? now : null;
}
