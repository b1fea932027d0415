import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveToolCall } from '../../src/client/resolve-tool-call.ts';
import type { Json } from '../../src/domain/json.ts';
import { listAskedCalls } from '../../src/store/asked-calls.ts';
import { toJsonBlob } from '../../src/store/blobs.ts';
import { startToolCall } from '../../src/store/tool-calls.ts';
import { loadProgress } from '../../src/store/progress.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import { cancelAndWait, loadCells, script, sums, waitFor } from './support.ts';

let assay: TestAssay;
const marks = mkdtempSync(join(tmpdir(), 'assay-ledger-'));
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true, force: true });
});

type Setting = {
  /** What the run file says of bash. */
  readonly tool?: object;
  readonly harness?: object;
  /** A former worker wrote the row `started` and was lost. */
  readonly lost?: boolean;
  readonly seed?: number;
};

/** A run whose one agent calls bash, which leaves a mark outside of its session, and then ends. */
async function begin({ tool = {}, harness = {}, lost = false }: Setting) {
  const runId = createTestRunId();
  const mark = join(marks, runId);
  const args = { command: `echo ran >> ${mark}; echo hello` };
  if (lost) {
    await startToolCall(assay.db, {
      key: { runId, task: 1, attempt: 1, generation: 1, tryNumber: 1, step: 1, call: 1 },
      tool: 'bash',
      argumentsDigest: toJsonBlob({ kind: 'parsed', value: args }).digest,
      idempotent: false,
    });
  }
  const document: Json = {
    models: [script([{ tools: [{ name: 'bash', arguments: args }] }, { say: '1' }])],
    suite: sums(1),
    harness: { kind: 'agent', tools: [{ name: 'bash', ...tool }], ...harness } as Json,
    environment: 'host',
  };
  await assay.start(document, { runId });
  return { runId, mark };
}

const countRuns = (mark: string): number =>
  existsSync(mark) ? readFileSync(mark, 'utf8').trimEnd().split('\n').length : 0;

async function loadEnd({ runId, mark }: { readonly runId: string; readonly mark: string }) {
  await assay.result(runId);
  const [cell] = await loadCells(assay, runId);
  const calls = await assay.db.query<{
    state: string;
    status: string;
    executions: number;
    resolution: string;
  }>('select state, status, executions, resolution from tool_calls where run_id = $1', [runId]);
  const steps = await assay.db.query<{ text: string }>(
    `select convert_from(b.bytes, 'UTF8') as text from steps s join blobs b on b.digest = s.digest and b.chunk = 0
     where s.run_id = $1 and s.role = 'tool' order by s.sequence`,
    [runId],
  );
  const [seen] = steps.rows.map((row) => JSON.parse(row.text) as { text: string; status: string });
  return {
    outcome: cell?.outcome,
    reason: cell?.reason_code,
    ran: countRuns(mark),
    row: calls.rows[0],
    seen,
  };
}

const TEXTS: { readonly [status: string]: string } = {
  success: 'hello',
  unknown: 'is unknown',
  none: 'none',
};

test.each([
  { row: 'no row', tool: {}, lost: false, ran: 1, outcome: 'scored', executions: 1, status: 'success' },
  { row: 'started', tool: {}, lost: true, ran: 0, outcome: 'refused', executions: 1, status: null },
  {
    row: 'started, skip',
    tool: { onUnknown: 'skip' },
    lost: true,
    ran: 0,
    outcome: 'scored',
    executions: 1,
    status: 'unknown',
  },
  {
    row: 'started, rerun',
    tool: { onUnknown: 'rerun' },
    lost: true,
    ran: 1,
    outcome: 'scored',
    executions: 2,
    status: 'success',
  },
  {
    row: 'started, idempotent',
    tool: { idempotent: true },
    lost: true,
    ran: 1,
    outcome: 'scored',
    executions: 2,
    status: 'success',
  },
])(
  'AF-17 AF-13 $row: the tool runs $ran times and the attempt ends as $outcome',
  async ({ tool, lost, ran, outcome, executions, status }) => {
    const end = await loadEnd(await begin({ tool, lost }));
    const reason = outcome === 'refused' ? 'tool_outcome_unknown' : null;
    expect(end).toMatchObject({ outcome, reason, ran, row: { executions, status } });
    expect(end.seen?.text ?? 'none').toContain(TEXTS[status ?? 'none']);
  },
);

const asking = { tool: { onUnknown: 'ask' }, lost: true } as const;

async function waitUntilAsked(runId: string): Promise<void> {
  await waitFor('the question', async () => (await listAskedCalls(assay.db, runId)).length === 1);
}

test.each([
  { choice: 'done', output: 'it was paid', ran: 0, status: 'success', text: 'it was paid' },
  { choice: 'done', output: undefined, ran: 0, status: 'success', text: 'took effect' },
  { choice: 'rerun', output: undefined, ran: 1, status: 'success', text: 'hello' },
  { choice: 'skip', output: undefined, ran: 0, status: 'unknown', text: 'unknown' },
] as const)(
  'AF-17 ask: the session stays open until somebody says $choice, and the agent goes on',
  async ({ choice, output, ran, status, text }) => {
    const started = await begin(asking);
    const { runId } = started;
    await waitUntilAsked(runId);
    expect(await readSessions(assay, runId)).toMatchObject([{ state: 'open' }]);
    expect((await loadProgress(assay.db, runId))?.asked).toMatchObject([{ tool: 'bash', step: 1, call: 1 }]);
    const said = { cell: 'sum-1', choice, by: 'ana', ...(output === undefined ? {} : { output }) };
    expect(await resolveToolCall(assay.connection, runId, said)).toMatchObject({
      choice,
      cell: 'agent/sum-1/a1',
    });
    const end = await loadEnd(started);
    expect(end).toMatchObject({ outcome: 'scored', ran, row: { status, resolution: choice } });
    expect(end.seen?.text).toContain(text);
    expect(await listAskedCalls(assay.db, runId)).toEqual([]);
  },
);

test('AF-17 ask: what nobody answers in time is refused, a wrong answer is told, and a cancel ends the wait', async () => {
  const expired = await begin({ ...asking, harness: { askExpiry: '2s' } });
  const cut = await begin(asking);
  await waitUntilAsked(cut.runId);
  const answer = (cell: string) => resolveToolCall(assay.connection, cut.runId, { cell, choice: 'skip' });
  await expect(answer('sum-2')).rejects.toThrow('These do: agent/sum-1/a1');
  const handle = assay.client.workflow.getHandle(`run/${cut.runId}/sums/agent/sum-1/a1`);
  const sayWrong = async (): Promise<string> => {
    const wrong = await handle
      .executeUpdate('resolveToolCall', { args: [{ choice: 'maybe' }] })
      .catch((error: unknown) => (error as Error).cause);
    return String(wrong);
  };
  await waitFor('what is wrong with it', async () =>
    (await sayWrong()).includes('expected one of done, rerun'),
  );
  expect(await cancelAndWait(assay, cut.runId)).toBe('CANCELLED');
  expect(await readSessions(assay, cut.runId)).toMatchObject([{ state: 'closed' }]);
  await expect(answer('sum-1')).rejects.toThrow('No tool call');
  const end = await loadEnd(expired);
  expect(end).toMatchObject({ outcome: 'refused', ran: 0, row: { state: 'started', resolution: 'expired' } });
});

test('AF-26 while the ledger cannot be written the tool does not run; then it runs once', async () => {
  await assay.db.query(`create function deny_tools() returns trigger language plpgsql as $$
    begin raise exception 'the ledger is away'; end $$`);
  await assay.db.query('create trigger deny before insert on tool_calls execute function deny_tools()');
  const started = await begin({});
  await waitFor('a first delivery that failed', async () => {
    const handle = assay.client.workflow.getHandle(`run/${started.runId}/sums/agent/sum-1/a1`);
    const { raw } = await handle.describe().catch(() => ({ raw: null }));
    return (raw?.pendingActivities ?? []).some(({ attempt }) => Number(attempt) > 1);
  });
  expect(countRuns(started.mark)).toBe(0);
  await assay.db.query('drop trigger deny on tool_calls');
  expect(await loadEnd(started)).toMatchObject({ outcome: 'scored', ran: 1, row: { executions: 1 } });
});
