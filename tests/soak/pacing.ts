import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startBenchStack, type BenchStack } from '../../bench/bench-stack.ts';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { load } from '../support/load.ts';
import { answerSum, readQuestion, sendJson, startModelServer } from '../workflows/model-server.ts';

/**
 * `npm run soak:pacing [seconds]`: two worker processes, and at the same time (a) two runs on an engine with 60
 * requests a minute, (b) a run on a provider that throttles above 20 calls at once. Prints the figures of
 * docs/pacing.md; exit code 1 when a limit did not hold.
 */
const SECONDS = Number(process.argv[2] ?? 170);
const LIMIT = 60;
const BEARS = 20;

type Seen = {
  readonly atMs: number;
  readonly run: string;
  readonly throttled: boolean;
  readonly inFlight: number;
};

const bench = await startBenchStack();
const second = startSecondWorker(bench);
try {
  await soak();
} finally {
  await second.stop();
  await bench.close();
}

async function soak(): Promise<void> {
  const paced: Seen[] = [];
  await using limited = await startModelServer((response, request) => {
    paced.push({
      atMs: Date.now(),
      run: readQuestion(request).split(' ')[0] ?? '',
      throttled: false,
      inFlight: 0,
    });
    sendJson(response, answerSum(request));
  });
  const calls: Seen[] = [];
  let inFlight = 0;
  await using busy = await startModelServer(async (response, request) => {
    const throttled = inFlight >= BEARS;
    calls.push({ atMs: Date.now(), run: 'slots', throttled, inFlight });
    if (throttled) return sendJson(response, { error: { message: 'slow down' } }, 429);
    inFlight += 1;
    await sleep(2_000 + 1_000 * Math.random());
    inFlight -= 1;
    sendJson(response, answerSum(request));
  });
  const rated = (name: string, cells: number) =>
    toDocument(name, cells, limited.provider({ limits: { requestsPerMinute: LIMIT } }));
  const runs = [
    await begin(rated('large', 400)),
    await begin(toDocument('slots', 4_000, busy.provider({ retry: { max: 20 } }))),
  ];
  await sleep(20_000);
  runs.push(await begin(rated('small', 60)));
  await sleep((SECONDS - 20) * 1_000);
  const changes = await loadChanges();
  const client = await bench.connection.temporal();
  for (const runId of runs) await client.workflow.getHandle(toRunWorkflowId(runId)).cancel();
  for (const runId of runs)
    await client.workflow
      .getHandle(toRunWorkflowId(runId))
      .result()
      .catch(() => undefined);
  const held = [reportRate(paced), reportSlots(calls, changes)];
  process.exitCode = held.every(Boolean) ? 0 : 1;
}

function toDocument(name: string, cells: number, provider: Json): Json {
  return {
    name,
    providers: [provider],
    models: [{ id: 'm', provider: 'local', model: 'm' }],
    suite: {
      name,
      scorers: ['exact'],
      cases: Array.from({ length: cells }, (_, index) => ({
        id: `${name}-${index}`,
        input: `${name} ${index}`,
        target: 'yes',
      })),
    },
    execution: { taskConcurrency: name === 'slots' ? 120 : 40 },
  };
}

async function begin(document: Json): Promise<string> {
  const loaded = await load(document);
  return (await startRun(bench.connection, { loaded, runId: null, approved: true })).runId;
}

/** The rate over every 60 s, and how two runs shared it. */
function reportRate(seen: readonly Seen[]): boolean {
  const startMs = seen[0]?.atMs ?? 0;
  const minutes = seen
    .filter(({ atMs }) => atMs <= (seen.at(-1)?.atMs ?? 0) - 60_000)
    .map(({ atMs }) => seen.filter((one) => one.atMs >= atMs && one.atMs < atMs + 60_000).length);
  const from = seen.findIndex(({ run }) => run === 'small');
  const shared = seen.slice(from, seen.findLastIndex(({ run }) => run === 'small') + 1);
  const small = shared.filter(({ run }) => run === 'small').length;
  const seconds = ((seen.at(-1)?.atMs ?? 0) - startMs) / 1_000;
  console.log(`\n${LIMIT} requests a minute, two runs, two worker processes, ${seconds.toFixed(0)} s:`);
  console.log(
    `requests ${seen.length}; in any 60 s at least ${Math.min(...minutes)}, at most ${Math.max(...minutes)}`,
  );
  console.log(`share of the small run while both went on: ${small} of ${shared.length}`);
  return Math.max(...minutes) <= LIMIT && small / shared.length > 0.3;
}

type Change = { readonly at: Date; readonly slots: string; readonly before: string; readonly after: string };

/** What was throttled, and how many slots there were, by quarters of a minute. */
function reportSlots(seen: readonly Seen[], changes: readonly Change[]): boolean {
  const startMs = seen[0]?.atMs ?? 0;
  console.log(`\nA provider that throttles above ${BEARS} calls at once, two worker processes:`);
  console.log(
    '| Seconds | Requests | Throttled | Most in flight | Slots at the end |\n|---|---|---|---|---|',
  );
  const names = [...new Set(changes.map((one) => one.slots))];
  for (let fromMs = startMs; fromMs < (seen.at(-1)?.atMs ?? 0); fromMs += 15_000) {
    const inside = seen.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + 15_000);
    const slots = names.map(
      (name) =>
        changes.findLast((one) => one.slots === name && one.at.getTime() < fromMs + 15_000)?.after ?? '20',
    );
    const most = Math.max(...inside.map((one) => one.inFlight + (one.throttled ? 0 : 1)));
    const count = inside.filter((one) => one.throttled).length;
    console.log(
      `| ${(fromMs - startMs) / 1_000} | ${inside.length} | ${count} | ${most} | ${slots.join(' + ')} |`,
    );
  }
  const late = seen.filter(({ atMs }) => atMs >= startMs + 60_000);
  const throttled = late.filter((one) => one.throttled).length;
  const share = throttled / late.length;
  console.log(
    `after the first minute ${throttled} of ${late.length} throttled (${(100 * share).toFixed(1)} %)`,
  );
  console.log(
    `${changes.length} changes recorded: ${changes.map((one) => `${one.before}>${one.after}`).join(' ')}`,
  );
  return share <= 0.05;
}

async function loadChanges(): Promise<Change[]> {
  const { rows } = await bench.connection.db.query<Change>(
    `select changed_at as at, limit_name as slots, old_value as before, new_value as after
     from limit_changes where limit_name like 'slots of %' order by id`,
  );
  return rows;
}

/** A worker as another machine would run it: its own data folder, the services by their addresses. */
function startSecondWorker({ stack }: BenchStack) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-second-'));
  const launcher = fileURLToPath(new URL('../../bin/assay', import.meta.url));
  const child = spawn(launcher, ['worker'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      ASSAY_DATA_DIR: folder,
      DATABASE_URL: stack.databaseUrl,
      TEMPORAL_ADDRESS: stack.temporalAddress,
      TEMPORAL_NAMESPACE: stack.namespace,
    },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    stop: async (): Promise<void> => {
      child.kill('SIGTERM');
      await Promise.race([ended, sleep(60_000, undefined, { ref: false })]);
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
