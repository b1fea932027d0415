import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createPool } from '../../src/store/pool.ts';
import { findProcesses, hasProcessTable } from '../crash/processes.ts';
import { countRunning, makeMark } from '../environments/marked-processes.ts';
import { createNamespace } from '../support/assay.ts';
import { load } from '../support/load.ts';
import { connectTestTemporal, createTestDatabase } from '../support/stack.ts';
import { oracle, sums, waitFor } from '../workflows/support.ts';
import { createHost } from './worker-host.ts';

/** Works for ever at its first start, at the second it is quick. */
const toAgent = (marks: string, name: string, mark: string): string =>
  `echo start >> ${marks}/${name}; test $(wc -l < ${marks}/${name}) -gt 1 || { (setsid sleep ${mark} &); sleep ${mark}; }; echo 1`;

const toDocument = (marks: string, mark: string): Json => ({
  models: [oracle('right')],
  requests: [
    { name: 'again', retries: { max: 1 } },
    { name: 'once', retries: { max: 0 } },
  ].map(({ name, retries }) => ({
    name,
    suite: sums(1),
    harness: { kind: 'command', command: ['sh', '-c', toAgent(marks, name, mark)], prompt: 'stdin' },
    environment: 'host',
    retries,
  })),
  execution: { seed: 1 },
});

async function startWorker() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-agent-')));
  chmodSync(folder, 0o755);
  const marks = join(folder, 'marks');
  mkdirSync(marks);
  const database = await createTestDatabase();
  const temporal = await connectTestTemporal();
  const namespace = await createNamespace(temporal);
  const db = createPool(database.databaseUrl, { maxConnections: 5 });
  await migrate(db);
  const { databaseUrl } = database;
  const services = { databaseUrl, temporalAddress: temporal.temporalAddress, namespace };
  const host = createHost(join(folder, 'host'), services);
  await host.start();
  onTestFinished(async () => {
    await host.kill();
    for (const { pid } of findProcesses(folder)) process.kill(pid, 'SIGKILL');
    await db.end();
    await temporal.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }, 60_000);
  return { host, db, marks, client: new Client({ connection: temporal.connection, namespace }) };
}

test.skipIf(!hasProcessTable)(
  'a worker that is killed takes its external agents with it: a try is spent, else the cell is interrupted, and none is started again in its session',
  { timeout: 240_000 },
  async () => {
    const { host, db, marks, client } = await startWorker();
    const mark = makeMark();
    const connection = { db, temporal: async () => client, close: async () => undefined };
    const loaded = await load(toDocument(marks, mark));
    const { runId } = await startRun(connection, { loaded, runId: 'lost-agents', approved: false });
    await waitFor('both agents to run', async () => countRunning(mark) === 4, 60_000);
    await host.kill();
    expect(countRunning(mark)).toBe(4);
    await host.start();
    expect(countRunning(mark)).toBe(0);
    await client.workflow.getHandle(toRunWorkflowId(runId)).result();
    const { rows } = await db.query(
      `select r.name, a.outcome, a.reason_code, a.try_number,
          (select string_agg(c.state, ' ' order by c.try_number) from command_runs c
            where c.run_id = a.run_id and c.task = a.task) as agents,
          (select string_agg(t.error, ' ') from tries t where t.run_id = a.run_id and t.task = a.task) as tries
        from attempts a join tasks k using (run_id, task) join requests r using (run_id, request_index)
        where a.run_id = $1 order by r.name`,
      [runId],
    );
    expect(rows).toEqual([
      {
        name: 'again',
        outcome: 'scored',
        reason_code: null,
        try_number: 2,
        agents: 'lost completed',
        tries: expect.stringContaining('command_lost'),
      },
      {
        name: 'once',
        outcome: 'interrupted',
        reason_code: 'command_lost',
        try_number: 1,
        agents: 'lost',
        tries: null,
      },
    ]);
    const starts = (name: string): number =>
      readFileSync(join(marks, name), 'utf8').trim().split('\n').length;
    expect([starts('again'), starts('once')]).toEqual([2, 1]);
  },
);
