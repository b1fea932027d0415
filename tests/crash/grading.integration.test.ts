import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { openHostServices, type HostServices } from '../hosts/host-services.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { load } from '../support/load.ts';
import { bash, script } from '../workflows/support.ts';
import { hasProcessTable } from './processes.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: grading in a sandbox that is cut off: ${problem}`);

let services: HostServices;
let host: WorkerHost;
const gate = createServer((socket) => socket.end());

beforeAll(async () => {
  services = await openHostServices('grading');
  host = services.createHost('host');
  await host.start();
}, 200_000);

afterAll(async () => {
  gate.close();
  await services.close();
});

/** A port that nobody listens on until graders may end. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const CASES = ['none', 'fresh', 'copies', ...(problem === null ? ['sandbox'] : [])];

/** Graders wait until somebody listens, in a shell and in JavaScript. */
function createRun(port: number): Json {
  const { marks } = services;
  const shell = `echo graded >> ${marks}/graded-$0 2>/dev/null; until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.2; done`;
  const code = `import { appendFileSync } from 'node:fs';
    import { connect } from 'node:net';
    const isOpen = () => new Promise((resolve) => {
      const socket = connect(${port}, '127.0.0.1', () => (socket.end(), resolve(true)));
      socket.on('error', () => resolve(false));
    });
    export default async () => {
      appendFileSync('${marks}/graded-none', 'graded\\n');
      while (!(await isOpen())) await new Promise((resolve) => setTimeout(resolve, 200));
      return 1;
    };`;
  const toScorer = (id: string): Json =>
    id === 'none'
      ? { kind: 'javascript', code, timeout: '2m' }
      : { kind: 'command', command: shell.replaceAll('$0', id), timeout: '2m' };
  return {
    name: 'grading',
    models: [script([bash(`echo ran >> ${marks}/ran 2>/dev/null; echo 1 > answer`), { say: 'done' }])],
    requests: CASES.map((id) => ({
      name: id,
      suite: { name: id, scorers: [toScorer(id)], cases: [{ id, input: 'Work.' }] },
      harness: { kind: 'agent', maxSteps: 5 },
      environment: id === 'sandbox' ? 'bubblewrap' : 'host',
      evaluation: id === 'none' || id === 'fresh' ? id : 'reuse',
    })),
  };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}:\n${host.log().slice(-3_000)}`);
    await sleep(100);
  }
}

/** Whether its grading has been taken up by a worker. */
async function isGraded(runId: string, id: string): Promise<boolean> {
  const handle = services.client.workflow.getHandle(`${toRunWorkflowId(runId)}/${id}/agent/${id}/a1`);
  const described = await handle.describe().catch(() => null);
  return (described?.raw.pendingActivities ?? []).some(
    ({ activityType, lastStartedTime }) =>
      /^(evaluate|gradeInProcess)$/.test(activityType?.name ?? '') && lastStartedTime != null,
  );
}

test.skipIf(!hasProcessTable)(
  'AC-A17 kill -9 while attempts are graded: none, fresh and copies are graded again and run nothing; in a session that a grader worked in the attempt runs again',
  { timeout: 300_000 },
  async () => {
    const port = await findPort();
    const { connection, client, db, marks } = services;
    const loaded = await load(createRun(port));
    const { runId } = await startRun(connection, { loaded, runId: 'grading', approved: false });
    for (const id of CASES) await until(`grading of ${id}`, () => isGraded(runId, id));
    await until('the graders that say so', async () =>
      ['none', 'fresh', 'copies'].every((id) => existsSync(join(marks, `graded-${id}`))),
    );
    await host.kill();
    gate.listen(port, '127.0.0.1');
    await host.start();
    const result = client.workflow.getHandle(toRunWorkflowId(runId)).result() as Promise<RunResult>;
    expect(await result).toMatchObject({ state: 'completed', outcomes: { scored: CASES.length } });

    const { rows } = await db.query<{ id: string; calls: number; tries: string[] }>(
      `select t.case_id as id, count(c.*)::int as calls,
         (select coalesce(array_agg(scope || ' ' || error), '{}') from tries where run_id = $1 and task = t.task) as tries
       from tasks t join model_calls c using (run_id, task) where run_id = $1 group by t.task, t.case_id`,
      [runId],
    );
    const lost = expect.stringMatching(
      /^attempt environment_lost: grading in session .* was cut off/,
    ) as string;
    expect(Object.fromEntries(rows.map(({ id, calls, tries }) => [id, { calls, tries }]))).toEqual({
      none: { calls: 2, tries: [] },
      fresh: { calls: 2, tries: [] },
      copies: { calls: 2, tries: [] },
      ...(problem === null ? { sandbox: { calls: 4, tries: [lost] } } : {}),
    });
    const count = (name: string) => readFileSync(join(marks, name), 'utf8').trim().split('\n').length;
    expect(count('ran')).toBe(3);
    expect(['none', 'fresh', 'copies'].map((id) => count(`graded-${id}`))).toEqual([2, 2, 2]);
    const open = "select session_id from environment_sessions where run_id = $1 and state <> 'closed'";
    expect((await db.query(open, [runId])).rows).toEqual([]);
  },
);
