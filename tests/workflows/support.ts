import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../src/domain/json.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { loadAttemptDetail } from '../../src/store/attempt-detail.ts';
import { createTestRunId, type TestAssay } from '../support/assay.ts';

/** A suite of small sums whose answers the mock model `oracle` knows. */
export const sums = (count: number, rest: { readonly [key: string]: Json } = {}) => ({
  name: 'sums',
  scorers: ['exact'],
  cases: Array.from({ length: count }, (_, index) => ({
    id: `sum-${index + 1}`,
    input: `What is ${index} + 1?`,
    target: String(index + 1),
    ...rest,
  })),
});

export const oracle = (id = 'right', params: { readonly [key: string]: Json } = {}) => ({
  id,
  provider: 'mock',
  model: 'oracle',
  params,
});

/** Everything that is stored of a cell but times and the order of rows. */
export type CellRow = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly model_id: string;
  readonly case_id: string;
  readonly request: string;
  readonly planned: boolean;
  readonly outcome: string | null;
  readonly score: number | null;
  readonly pass: boolean | null;
  readonly reason_code: string | null;
  readonly detail: string | null;
  readonly try_number: number;
  readonly settled: boolean;
  readonly answer_preview: string | null;
};

export async function loadCells(
  { db }: Pick<TestAssay, 'db'>,
  runId: string,
  generation?: number,
): Promise<CellRow[]> {
  const { rows } = await db.query<CellRow>(
    `select a.task, a.attempt, a.generation, t.model_id, t.case_id, r.name as request, a.planned, a.outcome,
       a.score, a.pass, a.reason_code, a.detail, a.try_number, a.settled, a.answer_preview
     from attempts a join tasks t using (run_id, task)
       join requests r on r.run_id = a.run_id and r.request_index = t.request_index
     where a.run_id = $1 and ($2::int is null or a.generation = $2)
     order by a.generation, a.task, a.attempt`,
    [runId, generation ?? null],
  );
  return rows;
}

/** How many rows of a run's cells have each outcome, in one generation or all; `none` = no outcome. */
export async function countOutcomes(
  assay: TestAssay,
  runId: string,
  generation?: number,
): Promise<{ [outcome: string]: number }> {
  const counts: { [outcome: string]: number } = {};
  for (const row of await loadCells(assay, runId, generation)) {
    if (row.planned) counts[row.outcome ?? 'none'] = (counts[row.outcome ?? 'none'] ?? 0) + 1;
  }
  return counts;
}

export type CallRow = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly try_number: number;
  readonly step: number;
  readonly request_number: number;
  readonly model_id: string;
  readonly case_id: string;
  readonly state: string;
  readonly cost_usd: number | null;
  readonly charged_usd: number | null;
  readonly estimated: boolean;
  readonly input_tokens: number | null;
  readonly failure_class: string | null;
  readonly failure_message: string | null;
  readonly started_at: Date;
  readonly finished_at: Date | null;
};

/** Every model request of a run, in the order in which they were begun. */
export async function loadCalls({ db }: TestAssay, runId: string): Promise<CallRow[]> {
  const { rows } = await db.query<CallRow>(
    `select c.*, c.charged_usd::float8 as charged_usd, c.cost_usd::float8 as cost_usd, t.case_id
     from model_calls c join tasks t using (run_id, task) where c.run_id = $1
     order by c.started_at, c.task, c.attempt, c.try_number, c.step, c.request_number`,
    [runId],
  );
  return rows;
}

/** Awaits what another process does; the only place that looks again and again. */
export async function waitFor(
  what: string,
  check: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(25);
  }
}

/** Awaits that a run has so many calls in a state, such as `{ completed: 3 }`. */
export async function waitForCalls(
  assay: TestAssay,
  runId: string,
  wanted: { readonly [state: string]: number },
): Promise<void> {
  await waitFor(`calls ${JSON.stringify(wanted)}`, async () => {
    const calls = await loadCalls(assay, runId);
    return Object.entries(wanted).every(
      ([state, count]) => calls.filter((one) => one.state === state).length >= count,
    );
  });
}

/** Starts a document of which the run id is known before. */
export async function begin(assay: Pick<TestAssay, 'start'>, document: Json): Promise<string> {
  const runId = createTestRunId();
  await assay.start(document, { runId });
  return runId;
}

export const workflowOf = ({ client }: Pick<TestAssay, 'client'>, runId: string) =>
  client.workflow.getHandle(toRunWorkflowId(runId));

/** Cancels a run and waits until its workflow has closed. Returns the status that Temporal shows. */
export async function cancelAndWait(assay: TestAssay, runId: string): Promise<string> {
  const handle = workflowOf(assay, runId);
  await handle.cancel();
  await handle.result().catch(() => undefined);
  return (await handle.describe()).status.name;
}

/** Moves the time limit of a run that has one to a moment that is near; how long a busy machine takes does not matter. */
export async function reachDeadline(assay: TestAssay, runId: string): Promise<void> {
  await waitFor('a deadline that is near', async () => {
    const { rows } = await assay.db.query<{ ms: number }>(
      'select extract(epoch from now() - started_at)::float8 * 1000 as ms from runs where run_id = $1',
      [runId],
    );
    const timeoutMs = Math.round((rows[0]?.ms ?? 0) + 500);
    const update = workflowOf(assay, runId).executeUpdate('set', { args: [{ timeoutMs }] });
    // It is refused where that moment is over before the run hears of it.
    return await update.then(
      () => true,
      () => false,
    );
  });
}

export async function loadState(
  { db }: TestAssay,
  runId: string,
): Promise<{ state: string; reason: string | null }> {
  const { rows } = await db.query('select state, frozen_reason as reason from runs where run_id = $1', [
    runId,
  ]);
  return rows[0] ?? { state: 'not there', reason: null };
}

/** Ids of this run's workflows of which the server says that they are open. */
export async function listOpenWorkflows({ client }: TestAssay, runId: string): Promise<string[]> {
  const open: string[] = [];
  const prefix = toRunWorkflowId(runId);
  const query = `ExecutionStatus = 'Running' and WorkflowId starts_with '${prefix}'`;
  for await (const execution of client.workflow.list({ query })) open.push(execution.workflowId);
  return open;
}

/** Runs as a plain Temporal client would start them: by name, with the document inline. */
export async function startPlain(assay: TestAssay, runId: string, input: Json): Promise<void> {
  await assay.client.workflow.start('run', {
    workflowId: toRunWorkflowId(runId),
    taskQueue: 'assay',
    args: [input],
  });
}

/** A scripted agent: its steps in order, whatever the case. */
export const script = (steps: Json[], id = 'agent') => ({
  id,
  provider: 'mock',
  model: 'script',
  params: { script: { cases: {}, default: { good: steps, bad: [] } } },
});

/** One step of a script that runs a command. */
export const bash = (command: string, more: { readonly [key: string]: Json } = {}) => ({
  tools: [{ name: 'bash', arguments: { command, ...more } }],
});

/** The only attempt of a run, with its tool rows and its observations as the model read them. */
export async function loadAttempt({ db }: TestAssay, runId: string) {
  const [detail] = await loadAttemptDetail(db, { runId, caseId: 'sum-1' });
  if (detail === undefined) throw new Error(`run ${runId} has no attempt`);
  const { rows } = await db.query<{ text: string }>(
    `select convert_from(b.bytes, 'UTF8') as text from steps s join blobs b on b.digest = s.digest and b.chunk = 0
     where s.run_id = $1 and s.role = 'tool' order by s.sequence`,
    [runId],
  );
  return {
    ...detail,
    observations: rows.map((row) => JSON.parse(row.text) as { text: string; status: string }),
  };
}
