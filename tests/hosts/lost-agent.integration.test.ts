import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { hasProcessTable } from '../crash/processes.ts';
import { countRunning, makeMark } from '../environments/marked-processes.ts';
import { load } from '../support/load.ts';
import { oracle, sums, waitFor } from '../workflows/support.ts';
import { openHostServices } from './host-services.ts';

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
  const services = await openHostServices('agent');
  onTestFinished(services.close, 60_000);
  const host = services.createHost('host');
  await host.start();
  return { ...services, host };
}

test.skipIf(!hasProcessTable)(
  'a worker that is killed takes its external agents with it: a try is spent, else the cell is interrupted, and none is started again in its session',
  { timeout: 240_000 },
  async () => {
    const { host, db, marks, client, connection } = await startWorker();
    const mark = makeMark();
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
