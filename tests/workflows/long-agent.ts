import type { TestAssay } from '../support/assay.ts';
import { begin, loadCells, script, sums, workflowOf } from './support.ts';

export type LongAgent = {
  readonly outcome: string | null;
  /** Tool calls that ran. */
  readonly toolCalls: number;
  readonly sessions: number;
  /** Events of each execution of the attempt's workflow, the first first. */
  readonly events: readonly number[];
  /** Bytes of the longest history. */
  readonly largestBytes: number;
  readonly seconds: number;
};

/** One attempt of so many steps, each a model call and a tool call in one session. */
export async function runLongAgent(assay: TestAssay, steps: number): Promise<LongAgent> {
  const startedMs = performance.now();
  const acts = Array.from({ length: steps }, (_, index) => ({
    tools: [{ name: 'write_file', arguments: { path: `f${index % 10}`, content: String(index) } }],
  }));
  const runId = await begin(assay, {
    models: [script([...acts, { say: '1' }])],
    suite: sums(1),
    harness: { kind: 'agent', tools: ['write_file'], maxSteps: steps + 1 },
    environment: 'host',
  });
  await workflowOf(assay, runId).result();
  const seconds = (performance.now() - startedMs) / 1_000;
  const id = `run/${runId}/sums/agent/sum-1/a1`;
  const histories = await loadHistories(assay, id);
  const [cell] = await loadCells(assay, runId);
  const { rows } = await assay.db.query<{ calls: number; sessions: number }>(
    `select (select count(*)::int from tool_calls where run_id = $1 and state = 'completed' and executions = 1) as calls,
       (select count(*)::int from environment_sessions where run_id = $1) as sessions`,
    [runId],
  );
  return {
    outcome: cell?.outcome ?? null,
    toolCalls: rows[0]?.calls ?? 0,
    sessions: rows[0]?.sessions ?? 0,
    events: histories.map(({ events }) => events),
    largestBytes: Math.max(...histories.map(({ bytes }) => bytes)),
    seconds,
  };
}

async function loadHistories({ client }: TestAssay, workflowId: string) {
  const found: { readonly startMs: number; readonly events: number; readonly bytes: number }[] = [];
  for await (const execution of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    const described = await client.workflow.getHandle(workflowId, execution.runId).describe();
    found.push({
      startMs: execution.startTime.getTime(),
      events: described.historyLength,
      bytes: described.historySize ?? 0,
    });
  }
  return found.toSorted((a, b) => a.startMs - b.startMs);
}
