import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveToolCall } from '../../src/client/resolve-tool-call.ts';
import { startRun } from '../../src/client/start-run.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { listAskedCalls } from '../../src/store/asked-calls.ts';
import { openHostServices, type HostServices } from '../hosts/host-services.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { load } from '../support/load.ts';
import { CASES, createStepRun, isEverybodyThere, readSteps, STEPS, type Case } from './agent-steps.ts';
import { hasProcessTable } from './processes.ts';

let services: HostServices;
let host: WorkerHost;

beforeAll(async () => {
  services = await openHostServices('steps');
  host = services.createHost('host');
  await host.start();
}, 90_000);

afterAll(() => services.close());

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}:\n${host.log().slice(-3_000)}`);
    await sleep(100);
  }
}

/** What the policy of the tool makes of a call that was cut off, and of one that was not. */
function expectedOf({ place, step, policy }: Case) {
  const all = Array.from({ length: STEPS }, (_, index) => index + 1);
  if (place === 'call') return { outcome: 'scored', steps: all, unknown: null };
  const twice = all.flatMap((one) => (one === step ? [one, one] : [one]));
  switch (policy) {
    case 'refuse':
      return { outcome: 'refused', steps: all.slice(0, step), unknown: null };
    case 'rerun':
    case 'idempotent':
      return { outcome: 'scored', steps: twice, unknown: 'success' };
    case 'skip':
      return { outcome: 'scored', steps: all, unknown: 'unknown' };
    case 'ask':
      return { outcome: 'scored', steps: all, unknown: 'success' };
  }
}

test.skipIf(!hasProcessTable)(
  'AF-17 AF-18 kill -9 inside each model call and each tool of ten steps: no finished tool runs again, the unknown one follows its policy, the transcript is whole',
  { timeout: 240_000 },
  async () => {
    const { connection, client, db, marks } = services;
    const loaded = await load(createStepRun(marks));
    const { runId } = await startRun(connection, { loaded, runId: 'steps', approved: false });
    await until('every case at its place', () => isEverybodyThere(marks));
    await host.kill();
    writeFileSync(join(marks, 'go'), '');
    await host.start();

    const asking = CASES.filter(({ place, policy }) => place === 'tool' && policy === 'ask');
    await until('the questions', async () => (await listAskedCalls(db, runId)).length === asking.length);
    for (const { id } of asking)
      await resolveToolCall(connection, runId, { cell: id, choice: 'done', output: 'it was done' });
    const handle = client.workflow.getHandle(toRunWorkflowId(runId));
    expect(await (handle.result() as Promise<RunResult>)).toMatchObject({ state: 'completed' });

    const ends = await loadEnds(runId);
    for (const one of CASES) {
      const { outcome, steps, unknown } = expectedOf(one);
      const end = ends.get(one.id);
      expect({ id: one.id, outcome: end?.outcome, steps: readSteps(marks, one) }).toEqual({
        id: one.id,
        outcome,
        steps,
      });
      const observed = outcome === 'scored' ? STEPS : one.step - 1;
      expect(end?.roles).toEqual(toRoles(observed, outcome));
      expect(end?.statuses[one.step - 1] ?? null).toBe(one.place === 'tool' ? unknown : 'success');
    }
  },
);

/** Answer and observation in turn; a refused attempt ends with the answer whose call is unknown. */
const toRoles = (observed: number, outcome: string): string[] => [
  ...Array.from({ length: observed }, () => ['assistant', 'tool']).flat(),
  ...(outcome === 'scored' || outcome === 'refused' ? ['assistant'] : []),
];

async function loadEnds(runId: string) {
  const attempts = await services.db.query<{ case_id: string; outcome: string }>(
    'select case_id, outcome from attempts join tasks using (run_id, task) where run_id = $1',
    [runId],
  );
  const steps = await services.db.query<{ case_id: string; role: string; text: string }>(
    `select case_id, role, convert_from(b.bytes, 'UTF8') as text from steps s join tasks using (run_id, task)
       join blobs b on b.digest = s.digest and b.chunk = 0 where s.run_id = $1 order by task, sequence`,
    [runId],
  );
  return new Map(
    attempts.rows.map(({ case_id: id, outcome }) => {
      const own = steps.rows.filter((row) => row.case_id === id);
      const tools = own.filter(({ role }) => role === 'tool');
      const statuses = tools.map(({ text }) => (JSON.parse(text) as { status: string }).status);
      return [id, { outcome, roles: own.map(({ role }) => role), statuses }] as const;
    }),
  );
}
