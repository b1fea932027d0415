import { setTimeout as sleep } from 'node:timers/promises';
import type { AssayConnection } from '../../src/client/connect.ts';
import { startRun } from '../../src/client/start-run.ts';
import type pg from 'pg';
import type { TestEngine } from '../environments/docker-subject.ts';
import { makeMark } from '../environments/marked-processes.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { load } from '../support/load.ts';
import { planLeakKills, strike, type LeakKill } from './leak-kills.ts';
import { CELLS_PER_TRIAL, createLeakRun } from './leak-run.ts';
import { findLeftBehind } from './left-behind.ts';

export type LeakPlace = {
  readonly db: pg.Pool;
  readonly connection: AssayConnection;
  readonly host: WorkerHost;
  readonly engine: TestEngine;
};

export type LeakResult = {
  readonly seed: number;
  /** What was hit, in order. */
  readonly hits: readonly string[];
  readonly outcomes: { readonly [outcome: string]: number };
  /** Cells without exactly one outcome, and ends that no kill explains. */
  readonly problems: readonly string[];
  /** Kinds of things that were found while the run went on: what is looked for can be found. */
  readonly found: readonly string[];
  /** Things of the run that were there when it ended, for the reaper. */
  readonly forReaper: readonly string[];
  /** What the reaper left: must be empty. */
  readonly left: readonly string[];
  readonly runMs: number;
  /** From the start of the worker whose reaper was awaited until nothing was left. */
  readonly reapMs: number;
};

const RUN_LIMIT_MS = 240_000;
/** The reaper looks at the start and every minute. */
const REAP_LIMIT_MS = 90_000;

/** One run of ten agents, with a kill of the worker, of a session and of the docker engine; then what is left of it. */
export async function runLeakTrial(place: LeakPlace, seed: number): Promise<LeakResult> {
  const { db, connection, host, engine } = place;
  const runId = `leaks-${seed}`;
  const mark = makeMark();
  const startedAt = Date.now();
  const signal = AbortSignal.timeout(RUN_LIMIT_MS);
  await startRun(connection, { loaded: await load(createLeakRun(mark)), runId, approved: false });
  const watch = watchEngine(engine);
  const hits: string[] = [];
  const found = new Set<string>();
  const look = (seen: ReadonlySet<string>) =>
    findLeftBehind({ db, engine, dataDir: host.dataDir, hostId: host.hostId(), runId, mark, seen });
  for (const kill of planLeakKills(seed)) {
    await waitForRows(db, { runId, kill, signal });
    for (const line of await look(watch.seen)) found.add(line.slice(0, line.indexOf(':')));
    hits.push(await strike(kill, { db, host, engine, runId, seed, signal }));
  }
  const ended = await waitForEnd(db, runId, signal);
  const runMs = Date.now() - startedAt;
  await watch.stop();
  const forReaper = await look(watch.seen);
  await host.stop();
  const restartedAt = Date.now();
  await host.start();
  let left = await look(watch.seen);
  while (left.length > 0 && Date.now() - restartedAt < REAP_LIMIT_MS) {
    await sleep(200);
    left = await look(watch.seen);
  }
  const { outcomes, problems } = await judgeCells(db, runId);
  return {
    seed,
    hits,
    outcomes,
    problems: ended ? problems : [`the run did not end within ${RUN_LIMIT_MS / 1_000} s`, ...problems],
    found: [...found].toSorted(),
    forReaper,
    left,
    runMs,
    reapMs: Date.now() - restartedAt,
  };
}

/** Ids of every container and network that is seen, for their control groups and bridges. */
function watchEngine({ docker }: TestEngine) {
  const seen = new Set<string>();
  const ending = new AbortController();
  const look = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      // Away while it is killed.
      const containers = await docker.listContainers({ all: true }).catch(() => []);
      const networks = await docker.listNetworks().catch(() => []);
      for (const { Id } of containers) seen.add(Id);
      for (const { Id, Name } of networks) if (Name.startsWith('assay-')) seen.add(Id);
      await sleep(200);
    }
  };
  const done = look();
  return { seen: seen as ReadonlySet<string>, stop: () => (ending.abort(), done) };
}

async function waitForRows(
  db: pg.Pool,
  { runId, kill, signal }: { readonly runId: string; readonly kill: LeakKill; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await db.query<{ count: number; ended: boolean }>(
      `select (select count(*) from environment_sessions where run_id = $1)::int
          + (select count(*) from tool_calls where run_id = $1)::int as count,
        exists (select from runs where run_id = $1 and finished_at is not null) as ended`,
      [runId],
    );
    if (rows[0]?.ended === true || (rows[0]?.count ?? 0) >= kill.afterRows) break;
    await sleep(30);
  }
  await sleep(kill.delayMs);
}

async function waitForEnd(db: pg.Pool, runId: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const { rowCount } = await db.query('select from runs where run_id = $1 and finished_at is not null', [
      runId,
    ]);
    if (rowCount === 1) return true;
    await sleep(100);
  }
  return false;
}

/** `refused` = a tool was running when its worker died. A grader that was cut off for good leaves `unscored`. */
const EXPLAINED = new Set(['scored', 'refused', 'infra', 'interrupted', 'unscored']);

async function judgeCells(db: pg.Pool, runId: string) {
  const { rows } = await db.query<{ cell: string; outcome: string | null; detail: string | null }>(
    `select r.name || '/' || case_id as cell, outcome, detail from attempts a join tasks t on t.run_id = a.run_id and t.task = a.task
      join requests r on r.run_id = t.run_id and r.request_index = t.request_index where t.run_id = $1`,
    [runId],
  );
  const outcomes: { [outcome: string]: number } = {};
  for (const { outcome } of rows) outcomes[outcome ?? 'none'] = (outcomes[outcome ?? 'none'] ?? 0) + 1;
  const odd = rows.filter(({ outcome }) => !EXPLAINED.has(outcome ?? ''));
  const problems = odd.map(({ cell, outcome, detail }) => `${cell} is ${outcome}: ${detail}`);
  if (rows.length !== CELLS_PER_TRIAL) problems.push(`${rows.length} cells instead of ${CELLS_PER_TRIAL}`);
  return { outcomes, problems };
}
