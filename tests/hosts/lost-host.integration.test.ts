import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { findProcesses, hasProcessTable } from '../crash/processes.ts';
import { load } from '../support/load.ts';
import { bash, script } from '../workflows/support.ts';
import { openHostServices, type HostServices } from './host-services.ts';
import type { WorkerHost } from './worker-host.ts';

/** A host is given a minute to take up a step, so this waits long: `npm run soak:leaks` does it. */
const wanted = process.env['ASSAY_LEAK_RUNS'] !== undefined;
if (!wanted) console.warn('skipped: a lost host takes two minutes: npm run soak:leaks');

const CASES = 6;
/** Longer than the lease of a host. */
const SLEEP_MS = 75_000;

let services: HostServices;
let hosts: readonly [WorkerHost, WorkerHost];

beforeAll(async () => {
  if (!wanted) return;
  services = await openHostServices('lost');
  hosts = [services.createHost('first'), services.createHost('second')];
  for (const host of hosts) await host.start();
}, 300_000);

afterAll(async () => {
  if (!wanted) return;
  for (const host of hosts) host.wake();
  await services.close();
});

const toRequest = (name: string, onUnknown: string): Json => ({
  name,
  harness: { kind: 'agent', tools: [{ name: 'bash', onUnknown }], maxSteps: 5 },
  environment: 'host',
  suite: {
    name,
    scorers: [{ kind: 'command', command: 'test -e done' }],
    cases: Array.from({ length: CASES }, (_, index) => ({ id: `${name}-${index + 1}`, input: 'Work.' })),
  },
});

/** The first tool takes longer than it takes to kill a host, the second one is begun after that. */
const toDocument = (): Json => ({
  name: 'lost',
  models: [
    script([
      bash(`echo "$PWD" >> ${services.marks}/$(basename "$PWD")-$$; sleep 8`),
      bash('echo 1 > done'),
      { say: 'done' },
    ]),
  ],
  requests: [toRequest('again', 'rerun'), toRequest('careful', 'refuse')],
  execution: { taskConcurrency: 2 * CASES, seed: 7 },
});

async function loadCells(runId: string) {
  const { rows } = await services.db.query<{
    caseId: string;
    outcome: string;
    tries: number;
    hosts: string[];
  }>(
    `select t.case_id as "caseId", a.outcome, a.try_number as tries,
        array(select host_id from environment_sessions s where s.run_id = a.run_id and s.task = a.task
          order by s.try_number) as hosts
      from attempts a join tasks t on t.run_id = a.run_id and t.task = a.task where a.run_id = $1`,
    [runId],
  );
  return rows;
}

const begun = ({ dataDir }: WorkerHost): number =>
  readdirSync(services.marks).filter((name) =>
    readFileSync(join(services.marks, name), 'utf8').startsWith(dataDir),
  ).length;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 180_000;
  while (!(await holds())) {
    if (Date.now() > deadline)
      throw new Error(
        `waited in vain for ${what}: ${hosts.map((host) => host.log().slice(-2_000)).join('\n')}`,
      );
    await sleep(50);
  }
}

test.skipIf(!wanted || !hasProcessTable)(
  'a host that is gone is tried elsewhere outside retries.max, but not with a call whose outcome nobody knows; one that slept loses nothing',
  { timeout: 600_000 },
  async () => {
    const [gone, sleeper] = hosts;
    const { connection, client, db } = services;
    const { runId } = await startRun(connection, {
      loaded: await load(toDocument()),
      runId: 'lost',
      approved: false,
    });
    await until('both hosts to work', () => begun(gone) > 0 && begun(sleeper) > 0);
    await until('every session', async () =>
      (await loadCells(runId)).every((cell) => cell.hosts.length === 1),
    );
    const goneId = gone.hostId();
    const before = new Map((await loadCells(runId)).map((cell) => [cell.caseId, cell.hosts[0]]));
    await gone.kill();
    sleeper.sleep();
    await sleep(SLEEP_MS);
    sleeper.wake();
    const result = client.workflow.getHandle(toRunWorkflowId(runId)).result() as Promise<RunResult>;
    expect(await result).toMatchObject({ state: 'completed' });

    const cells = await loadCells(runId);
    expect(cells).toHaveLength(2 * CASES);
    for (const { caseId, outcome, tries, hosts: at } of cells) {
      const wasGone = before.get(caseId) === goneId;
      const careful = caseId.startsWith('careful');
      const expected = !wasGone
        ? { outcome: 'scored', tries: 1, at: [sleeper.hostId()] }
        : careful
          ? { outcome: 'refused', tries: 1, at: [goneId] }
          : { outcome: 'scored', tries: 2, at: [goneId, sleeper.hostId()] };
      expect({ caseId, outcome, tries, at }).toEqual({ caseId, ...expected });
    }
    // What it left is removed when it is back.
    await gone.start();
    await until('the sessions of the lost host to go', async () => {
      const { rowCount } = await db.query(
        `select from environment_sessions where run_id = $1 and state <> 'closed'`,
        [runId],
      );
      const left = readdirSync(join(gone.dataDir, 'sessions')).filter((name) => !name.startsWith('.'));
      return rowCount === 0 && left.length === 0;
    });
    expect(findProcesses(join(gone.dataDir, 'sessions'))).toEqual([]);
  },
);
