import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveToolCall } from '../../src/client/resolve-tool-call.ts';
import { startRun } from '../../src/client/start-run.ts';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { loadRunFile } from '../../src/modules/load-run-file.ts';
import { listAskedCalls } from '../../src/store/asked-calls.ts';
import { isRunning } from '../environments/test-session.ts';
import { openHostServices, type HostServices } from '../hosts/host-services.ts';
import type { WorkerHost } from '../hosts/worker-host.ts';
import { waitFor } from '../workflows/support.ts';
import {
  CASES,
  HELD_STEP,
  readProcesses,
  readSteps,
  STEPS,
  toRunFile,
  type ForeignCase,
} from './foreign-tools.ts';
import { hasProcessTable } from './processes.ts';

let services: HostServices;
let host: WorkerHost;

beforeAll(async () => {
  services = await openHostServices('foreign');
  host = services.createHost('host');
  await host.start();
}, 200_000);

afterAll(() => services.close());

const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
  waitFor(what, async () => await holds(), 120_000);

const ALL = Array.from({ length: STEPS }, (_, index) => index + 1);
const TWICE = [...ALL, HELD_STEP].toSorted((one, other) => one - other);

/** What the policy of the tool makes of a call that was cut off: its outcome, the steps that ran, what the model read. */
function expectedOf({ id, place, policy }: ForeignCase) {
  const held = (status: string) => ALL.map((step) => (step === HELD_STEP ? status : 'success'));
  if (place === 'call') return { id, outcome: 'scored', steps: ALL, statuses: held('success') };
  switch (policy) {
    case 'refuse':
      return { id, outcome: 'refused', steps: ALL.slice(0, HELD_STEP), statuses: ['success'] };
    case 'rerun':
    case 'idempotent':
      return { id, outcome: 'scored', steps: TWICE, statuses: held('success') };
    case 'skip':
      return { id, outcome: 'scored', steps: ALL, statuses: held('unknown') };
    case 'ask':
      return { id, outcome: 'scored', steps: ALL, statuses: held('success') };
  }
}

const isEverybodyThere = (marks: string): boolean =>
  CASES.every((one) => readSteps(marks, one).length === HELD_STEP);

async function listRunning(pids: readonly number[]): Promise<readonly number[]> {
  const running = await Promise.all(pids.map(isRunning));
  return pids.filter((_, index) => running[index]);
}

test.skipIf(!hasProcessTable)(
  'AF-17 AF-18 kill -9 inside tools of MCP servers and of run files: none of their processes is left, no finished tool runs again, the unknown one follows its policy',
  { timeout: 300_000, retry: 0 },
  async () => {
    const { connection, client, db, marks, folder } = services;
    mkdirSync(join(folder, 'project'));
    const path = join(folder, 'project', 'run.ts');
    writeFileSync(join(folder, 'project', 'package.json'), '{"type":"module"}');
    writeFileSync(path, toRunFile(marks));
    const loaded = await loadRunFile({ path, catalog: createBuiltInCatalog() });
    const { runId } = await startRun(connection, { loaded, runId: 'foreign', approved: false });
    await until('every case at its place', () => isEverybodyThere(marks));
    await until('the calls that hang', () => hasHangingCalls(runId));
    await host.kill();
    const ofTheFirst = [...readProcesses(marks, 'servers'), ...readProcesses(marks, 'own')];
    await host.start();
    expect(await listRunning(ofTheFirst)).toEqual([]);
    writeFileSync(join(marks, 'go'), '');

    const asking = CASES.filter(({ place, policy }) => place === 'tool' && policy === 'ask');
    await until('the questions', async () => (await listAskedCalls(db, runId)).length === asking.length);
    for (const { id } of asking)
      await resolveToolCall(connection, runId, { cell: id, choice: 'done', output: 'it was done' });
    const handle = client.workflow.getHandle(toRunWorkflowId(runId));
    expect(await (handle.result() as Promise<RunResult>)).toMatchObject({ state: 'completed' });

    const ends = await loadEnds(runId);
    const found = CASES.map((one) => ({
      id: one.id,
      ...ends.get(one.id),
      steps: readSteps(marks, one).toSorted((one, other) => one - other),
    }));
    expect(found).toEqual(CASES.map(expectedOf));
    expect(await listRunning(readProcesses(marks, 'servers'))).toEqual([]);
    expect(readdirSync(join(host.dataDir, 'mcp'))).toEqual([]);
  },
);

async function hasHangingCalls(runId: string): Promise<boolean> {
  const { rowCount } = await services.db.query(
    `select 1 from model_calls join tasks using (run_id, task) where run_id = $1 and state = 'started' and step = $2`,
    [runId, HELD_STEP + 1],
  );
  return rowCount === CASES.filter(({ place }) => place === 'call').length;
}

async function loadEnds(runId: string) {
  const { rows } = await services.db.query<{ id: string; outcome: string; texts: string[] }>(
    `select case_id as id, outcome, (select array_agg(convert_from(b.bytes, 'UTF8') order by s.sequence)
         from steps s join blobs b on b.digest = s.digest and b.chunk = 0
         where s.run_id = $1 and s.task = a.task and s.role = 'tool') as texts
       from attempts a join tasks using (run_id, task) where a.run_id = $1`,
    [runId],
  );
  return new Map(
    rows.map(({ id, outcome, texts }) => {
      const statuses = texts.map((text) => (JSON.parse(text) as { status: string }).status);
      return [id, { outcome, statuses }] as const;
    }),
  );
}
