import type { TestAssay } from '../support/assay.ts';
import { begin, loadCells, script, sums, workflowOf } from './support.ts';

/** What a run needs of an Assay: that of a test, or the real stack of the soak. */
export type Place = Pick<TestAssay, 'client' | 'db' | 'start'>;

export type LongAgent = {
  readonly outcome: string | null;
  /** Tool calls that ran. */
  readonly toolCalls: number;
  readonly sessions: number;
  readonly histories: readonly History[];
  readonly seconds: number;
};

/** One execution of the attempt's workflow. */
export type History = {
  readonly events: number;
  readonly bytes: number;
  /** Summaries of its activities, as the Temporal UI shows them. */
  readonly summaries: readonly string[];
};

/** One attempt of so many steps, each a model call and a tool call in one session. */
export async function runLongAgent(
  place: Place,
  steps: number,
  watch: (runId: string) => Promise<void> = async () => undefined,
): Promise<LongAgent> {
  const startedMs = performance.now();
  const acts = Array.from({ length: steps }, (_, index) => ({
    tools: [{ name: 'write_file', arguments: { path: `f${index % 10}`, content: String(index) } }],
  }));
  const runId = await begin(place, {
    models: [script([...acts, { say: '1' }])],
    suite: sums(1),
    harness: { kind: 'agent', tools: ['write_file'], maxSteps: steps + 1 },
    environment: 'host',
  });
  const watching = watch(runId);
  await workflowOf(place, runId).result();
  await watching;
  const seconds = (performance.now() - startedMs) / 1_000;
  const [cell] = await loadCells(place, runId);
  const { rows } = await place.db.query<{ calls: number; sessions: number }>(
    `select (select count(*)::int from tool_calls where run_id = $1 and state = 'completed' and executions = 1) as calls,
       (select count(*)::int from environment_sessions where run_id = $1) as sessions`,
    [runId],
  );
  return {
    outcome: cell?.outcome ?? null,
    toolCalls: rows[0]?.calls ?? 0,
    sessions: rows[0]?.sessions ?? 0,
    histories: await loadHistories(place, `run/${runId}/sums/agent/sum-1/a1`),
    seconds,
  };
}

/** Of all executions of a workflow, the first first. */
export async function loadHistories(
  { client }: Pick<Place, 'client'>,
  workflowId: string,
): Promise<History[]> {
  const found: (History & { readonly startMs: number })[] = [];
  for await (const execution of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    const handle = client.workflow.getHandle(workflowId, execution.runId);
    const { historyLength: events, historySize: bytes = 0 } = await handle.describe();
    const history = await handle.fetchHistory();
    const summaries = (history.events ?? []).flatMap(({ userMetadata }) => {
      const data = userMetadata?.summary?.data;
      return data == null ? [] : [JSON.parse(Buffer.from(data).toString('utf8')) as string];
    });
    found.push({ startMs: execution.startTime.getTime(), events, bytes, summaries });
  }
  return found.toSorted((a, b) => a.startMs - b.startMs).map(({ startMs: _, ...history }) => history);
}
