import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { openHostServices, type HostServices } from '../hosts/host-services.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { load } from '../support/load.ts';
import { readAsked, reply } from '../workflows/judge-server.ts';
import { startModelServer } from '../workflows/model-server.ts';
import { hasProcessTable } from './processes.ts';

let services: HostServices;
let host: WorkerHost;

beforeAll(async () => {
  services = await openHostServices('judging');
  host = services.createHost('host');
  await host.start();
}, 200_000);

afterAll(() => services.close());

const CASES = ['one', 'two', 'three'];

const toRun = (provider: Json): Json => ({
  name: 'judging',
  models: [{ id: 'm', provider: 'mock', model: 'oracle' }],
  providers: [provider],
  judge: { model: 'judge:wise' },
  suite: {
    name: 's',
    scorers: ['first', 'second'].map((name) => ({ kind: 'judge', name, rubric: `Rubric ${name}.` })),
    cases: CASES.map((id) => ({ id, input: 'Say it.', target: id })),
  },
});

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}:\n${host.log().slice(-3_000)}`);
    await sleep(50);
  }
}

test.skipIf(!hasProcessTable)(
  'kill -9 while judges are asked: no reply that came is paid twice, what was in flight is asked once more, agents are not',
  { timeout: 300_000 },
  async () => {
    const asked: string[] = [];
    let isHeld = true;
    await using server = await startModelServer((response, seen) => {
      const { blocks, rubric } = readAsked(seen);
      const name = /Rubric (\w+)\./.exec(rubric)?.[1] ?? '?';
      asked.push(`${name} ${blocks.get('answer')}`);
      // The first call of an engine is one of the first scorer's: nothing waits for those that are held.
      if (name === 'second' && isHeld) return;
      reply(response, '{"reason": "so be it", "verdict": "pass"}');
    });
    const loaded = await load(toRun(server.provider({ id: 'judge' }) as Json));
    const { connection, client, db } = services;
    const { runId } = await startRun(connection, { loaded, runId: 'judging', approved: false });
    await until(
      'three judges that were asked',
      () => asked.filter((one) => one.startsWith('second')).length === 3,
    );
    await host.kill();
    isHeld = false;
    await host.start();
    const result = client.workflow.getHandle(toRunWorkflowId(runId)).result() as Promise<RunResult>;
    expect(await result).toMatchObject({ state: 'completed', outcomes: { scored: 3 } });
    const counts = new Map<string, number>();
    for (const one of asked) counts.set(one, (counts.get(one) ?? 0) + 1);
    const expected = CASES.flatMap((id) => [[`first ${id}`, 1] as const, [`second ${id}`, 2] as const]);
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(expected));
    const { rows } = await db.query(
      `select purpose, state, count(*)::int as calls from model_calls where run_id = $1
       group by purpose, state order by purpose, state`,
      [runId],
    );
    expect(rows).toEqual([
      { purpose: 'agent', state: 'completed', calls: 3 },
      { purpose: 'judge/first/1', state: 'completed', calls: 3 },
      { purpose: 'judge/second/1', state: 'completed', calls: 3 },
      { purpose: 'judge/second/1', state: 'lost', calls: 3 },
    ]);
  },
);
