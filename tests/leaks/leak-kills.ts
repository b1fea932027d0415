import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawFrom } from '../../src/domain/stable-hash.ts';
import { toMark } from '../../src/environments/session-folders.ts';
import { listLiveSessions, type SessionRow } from '../../src/store/sessions.ts';
import type pg from 'pg';
import { killNow } from '../crash/kills.ts';
import type { TestEngine } from '../environments/docker-subject.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { CELLS_PER_TRIAL, TOOLS_PER_CELL } from './leak-run.ts';

/** `session` = the processes of a host session, process 1 of a sandbox, or a container. */
export const LEAK_VICTIMS = ['worker', 'session', 'dockerd'] as const;
export type LeakVictim = (typeof LEAK_VICTIMS)[number];

/** When to kill: after so many sessions and tool calls of the run, and then some milliseconds. */
export type LeakKill = { readonly victim: LeakVictim; readonly afterRows: number; readonly delayMs: number };

/** Each victim once, at seeded moments from the first session to the last tool; the same for the same seed. */
export function planLeakKills(seed: number): readonly LeakKill[] {
  const rows = CELLS_PER_TRIAL * (1 + TOOLS_PER_CELL);
  return LEAK_VICTIMS.map((victim) => ({
    victim,
    afterRows: Math.floor(drawFrom(`${victim}/after`, seed) * (rows - 5)),
    delayMs: Math.floor(drawFrom(`${victim}/delay`, seed) * 600),
  })).toSorted((a, b) => a.afterRows - b.afterRows);
}

export type Victims = { readonly db: pg.Pool; readonly host: WorkerHost; readonly engine: TestEngine };

/** Kills, and starts again what a machine would start again. Returns what was hit. */
export async function strike(
  { victim }: LeakKill,
  place: Victims & { readonly runId: string; readonly seed: number; readonly signal: AbortSignal },
): Promise<string> {
  const { host, engine } = place;
  if (victim === 'worker') {
    await host.kill();
    await host.start();
    return 'worker';
  }
  if (victim === 'dockerd') {
    await engine.crash();
    return 'dockerd';
  }
  const session = await findVictim(place);
  return session === null ? 'nothing' : await endSession(session, place);
}

async function findVictim(place: {
  readonly db: pg.Pool;
  readonly runId: string;
  readonly seed: number;
  readonly signal: AbortSignal;
}): Promise<SessionRow | null> {
  for (let look = 0; look < 200 && !place.signal.aborted; look += 1) {
    const rows = await listLiveSessions(place.db, { runId: place.runId });
    const open = rows.filter(({ state, root }) => state === 'open' && root !== null);
    const one = open[Math.floor(drawFrom('session', place.seed) * open.length)];
    if (one !== undefined) return one;
    await sleep(50);
  }
  return null;
}

async function endSession(
  row: SessionRow,
  { engine, seed }: { readonly engine: TestEngine; readonly seed: number },
): Promise<string> {
  const root = row.root ?? '';
  if (row.kind === 'host') {
    killNow(findMarked(toMark({ ...row, root })));
    return 'processes of a host session';
  }
  if (row.kind === 'bubblewrap') {
    killNow(readInit(root));
    return 'process 1 of a sandbox';
  }
  const container = engine.docker.getContainer(root);
  const removed = drawFrom('container', seed) < 0.5;
  // It may be closing by itself, or its engine away.
  await (removed ? container.remove({ force: true, v: true }) : container.kill()).catch(() => undefined);
  return removed ? 'a container, removed' : 'a container, killed';
}

/** Processes of a host session, by the mark that each is started with. */
export function findMarked(mark: string): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => readText(`/proc/${pid}/environ`).includes(`ASSAY_SESSION=${mark}`));
}

function readInit(root: string): readonly number[] {
  const text = readText(join(root, 'sandbox.json'));
  return text === '' ? [] : [(JSON.parse(text) as { pid: number }).pid];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
