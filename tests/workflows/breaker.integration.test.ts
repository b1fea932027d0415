import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumeRun } from '../../src/client/control-run.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { tripEngine } from '../../src/store/engine-health.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRun } from '../../src/store/runs.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, sendJson, startModelServer, toCompletion } from './model-server.ts';
import { begin, countOutcomes, loadCalls, loadCells, sums, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ holdPace: { firstHoldMs: 2_000 } });
});
afterAll(() => assay.close());

type Server = Awaited<ReturnType<typeof startModelServer>>;
type Response = Parameters<typeof sendJson>[0];

const toDocument = (server: Server, cases: number) => ({
  name: 'dead',
  models: [{ id: 'm', provider: 'local', model: 'small' }],
  providers: [server.provider({ retry: { max: 1, base: '10ms' } })],
  suite: sums(cases),
});

const refuse = (status: number, error: object) => (response: Response) =>
  sendJson(response, { error }, status);

const refuseKey = refuse(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' });

async function resume(runId: string): Promise<void> {
  const run = await loadRun(assay.db, runId);
  if (run === null) throw new Error(`there is no run ${runId}`);
  await resumeRun(assay.connection, { run, budgets: {} });
  await assay.result(runId);
}

test('CB-04 CB-13 C25 a refused key costs one request of 200 cells, and the run says what to mend', async () => {
  await using server = await startModelServer(refuseKey);
  const runId = await begin(assay, toDocument(server, 200));
  const result = await assay.result(runId);
  expect(server.calls()).toHaveLength(1);
  expect(result).toMatchObject({ state: 'completed', planned: 200, recorded: 200 });
  expect(result.reason).toMatchObject({ code: 'engine_down' });
  expect(result.reason?.message).toMatch(
    new RegExp(
      `^199 cells not run: engine local at ${server.baseUrl} is down: the credential was refused .*; check its key, then .assay resume ${runId}.$`,
    ),
  );
  const cells = await loadCells(assay, runId);
  expect(cells.filter((cell) => cell.outcome === 'infra')).toMatchObject([
    { try_number: 1, reason_code: 'credential' },
  ]);
  const blocked = cells.filter((cell) => cell.outcome === 'not_run');
  expect(blocked).toHaveLength(199);
  expect(new Set(blocked.map((cell) => `${cell.try_number} ${cell.reason_code}`))).toEqual(
    new Set(['0 engine_down']),
  );
  const report = summarize(await loadReportRows(assay.db, runId));
  expect(report.statement).toContain('Completed without all of its cells (199 cells not run: engine local');
  expect(report.next).toBe(`assay resume ${runId}`);
});

test('C25 once it is mended, a resume runs the cells that are missing, and no other', async () => {
  let number = 0;
  await using server = await startModelServer((response, seen) => {
    number += 1;
    if (number === 4) return refuseKey(response);
    sendJson(response, answerSum(seen));
  });
  const document = toDocument(server, 12);
  const runId = await begin(assay, {
    ...document,
    providers: [server.provider({ limits: { concurrency: 1 } })],
  });
  await assay.result(runId);
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 3, infra: 1, not_run: 8 });
  await resume(runId);
  expect(await countOutcomes(assay, runId, 2)).toEqual({ scored: 9 });
  expect(server.calls()).toHaveLength(13);
  expect((await loadRun(assay.db, runId))?.reason).toBeNull();
});

const DEAD: { readonly [what: string]: (response: Response) => void } = {
  'CB-05 an empty account (402)': refuse(402, { message: 'Insufficient balance' }),
  'CB-05 a quota that is used up (429)': refuse(429, {
    message: 'You exceeded your current quota',
    code: 'insufficient_quota',
  }),
  'CB-10 a success without tokens whose text is an error': (response) => {
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    sendJson(response, toCompletion({ content: 'API Error: 429 rate limit exceeded' }, { usage }));
  },
};

test.each(Object.entries(DEAD))('%s costs one request', async (_, dead) => {
  await using server = await startModelServer((response) => dead(response));
  const runId = await begin(assay, toDocument(server, 40));
  expect(await assay.result(runId)).toMatchObject({ outcomes: { infra: 1, not_run: 39 } });
  expect(server.calls()).toHaveLength(1);
});

test('CB-06 CB-07 one dead engine of three stops its own cells alone, and no figure of the others moves', async () => {
  await using dead = await startModelServer(refuseKey);
  await using first = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  await using second = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const servers = { dead, first, second };
  const runId = await begin(assay, {
    models: Object.keys(servers).map((id) => ({ id, provider: id, model: 'small' })),
    providers: Object.entries(servers).map(([id, server]) => server.provider({ id })),
    suite: sums(12),
    attempts: { k: 2 },
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 48, infra: 1, not_run: 23 } });
  expect([dead, first, second].map((server) => server.calls().length)).toEqual([1, 24, 24]);
  const rows = await loadReportRows(assay.db, runId);
  const report = summarize(rows);
  const without = summarize({
    ...rows,
    cells: rows.cells.filter((cell) => cell.outcome?.kind === 'scored'),
    models: rows.models.filter(({ modelId }) => modelId !== 'dead'),
  });
  const figuresOf = ({ boards }: typeof report) =>
    boards[0]?.rows
      .filter(({ modelId }) => modelId !== 'dead')
      .map(({ modelId, rank, band, status, figures }) => ({ modelId, rank, band, status, figures }));
  expect(figuresOf(report)).toEqual(figuresOf(without));
  expect(report.boards[0]?.rows.find(({ modelId }) => modelId === 'dead')).toMatchObject({
    status: 'no_data',
    rank: null,
    figures: { mean: null, passRate: null, outcomes: { infra: 1, not_run: 23 } },
  });
});

test('CB-08 CB-09 an engine that dies in the middle: calls in flight end and are classified, scores stay, nothing starts', async () => {
  let number = 0;
  await using server = await startModelServer((response, seen) => {
    number += 1;
    if (number > 10) return refuseKey(response);
    sendJson(response, answerSum(seen));
  });
  const document = toDocument(server, 60);
  const runId = await begin(assay, { ...document, retries: { max: 2 } });
  await assay.result(runId);
  const outcomes = await countOutcomes(assay, runId);
  expect(outcomes['scored']).toBe(10);
  // Those that were in flight: at most as many as there are slots.
  expect(outcomes['infra']).toBeLessThanOrEqual(20);
  expect(server.calls()).toHaveLength(10 + (outcomes['infra'] ?? 0));
  expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(60);
  const { rows } = await assay.db.query('select * from tries where run_id = $1', [runId]);
  expect(rows).toEqual([]);
});

test('an engine that is down for a time is asked once more by one call, and the run goes on by itself', async () => {
  let isUp = false;
  await using server = await startModelServer((response, seen) =>
    isUp
      ? sendJson(response, answerSum(seen))
      : sendJson(response, { error: { message: 'come back later' } }, 503),
  );
  await using other = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const document = toDocument(server, 30);
  const runId = await begin(assay, {
    ...document,
    models: [...document.models, { id: 'other', provider: 'other', model: 'small' }],
    providers: [...document.providers, other.provider({ id: 'other' })],
  });
  await waitFor('the trip', async () => {
    const { rows } = await assay.db.query(
      `select from engine_events where run_id = $1 and kind = 'held' and reason = 'exhausted'`,
      [runId],
    );
    return rows.length > 0;
  });
  // Five calls of two requests each, one after the other.
  expect(server.calls()).toHaveLength(10);
  isUp = true;
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 55, infra: 5 } });
  expect(other.calls()).toHaveLength(30);
  expect(server.calls()).toHaveLength(35);
});

test('attempts with a session close it while their engine is down for a time, and open it again', async () => {
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const folder = await mkdtemp(join(tmpdir(), 'assay-held-'));
  await chmod(folder, 0o755);
  const suite = sums(2, { setup: `until [ -e ${folder}/go ]; do sleep 0.1; done` });
  const request = { suite, environment: 'host' };
  const { models, providers } = toDocument(server, 1);
  const runId = await begin(assay, {
    models,
    providers,
    requests: [
      { ...request, name: 'loop', harness: { kind: 'agent', maxSteps: 3 } },
      { ...request, name: 'agent', harness: { kind: 'command', command: ['echo', '1'] } },
    ],
  });
  const readSessions = async () => {
    const columns = 'session_id, state, opened_at, execution_id';
    const text = `select ${columns} from environment_sessions where run_id = $1 order by session_id`;
    return (await assay.db.query<{ state: string; execution_id: string }>(text, [runId])).rows;
  };
  await waitFor('every session', async () => (await readSessions()).length === 4);
  const { rows: engines } = await assay.db.query<{ id: string }>(
    'select unnest(watched_engines) as id from runs where run_id = $1',
    [runId],
  );
  const down = { reason: 'exhausted', message: 'gone', resetMs: 15_000 } as const;
  for (const { id } of engines) await tripEngine(assay.db, { engineId: id, role: 'agent' }, down);
  const before = (await readSessions()).map((row) => row.execution_id);
  await writeFile(join(folder, 'go'), '');
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', recorded: 4 });
  await rm(folder, { recursive: true });
  const cells = await loadCells(assay, runId);
  expect(new Set(cells.map(({ reason_code }) => reason_code))).toEqual(new Set([null]));
  const after = await readSessions();
  expect(after.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'closed'));
  expect(after.filter((row, at) => row.execution_id === before[at])).toEqual([]);
  expect(server.calls()).toHaveLength(2);
});

/** Asks its model once, in the form of chat completions, and fails. */
const ASKS_ONCE = `place=\${URL#http://*:}; exec 3<>"/dev/tcp/127.0.0.1/\${place%%/*}"
text='{"messages":[{"role":"user","content":"Go."}]}'
printf 'POST /v1/chat/completions HTTP/1.0\\r\\nauthorization: Bearer %s\\r\\ncontent-length: %s\\r\\n\\r\\n%s' "$KEY" "\${#text}" "$text" >&3
cat <&3; exit 1`;

test('external agents that fail because their model does, five in a row, open its breaker', async () => {
  await using server = await startModelServer((response) =>
    sendJson(response, { error: { message: 'come back later' } }, 503),
  );
  const runId = await begin(assay, {
    ...toDocument(server, 5),
    harness: {
      kind: 'command',
      command: ['bash', '-c', ASKS_ONCE],
      proxy: true,
      variables: { URL: '{{openaiUrl}}', KEY: '{{token}}' },
    },
    environment: 'host',
    execution: { taskConcurrency: 1 },
  });
  await assay.result(runId);
  expect(await countOutcomes(assay, runId)).toEqual({ infra: 5 });
  expect(server.calls()).toHaveLength(5);
  const { rows } = await assay.db.query(
    `select kind, reason, count(*)::int from engine_events where run_id = $1 and kind = 'held' group by 1, 2`,
    [runId],
  );
  expect(rows).toEqual([{ kind: 'held', reason: 'exhausted', count: 1 }]);
});

test('CB-11 the breaker is kept by the store: a trip is there for a worker that starts later, and for other runs', async () => {
  let isOpen = false;
  await using server = await startModelServer(async (response, seen) => {
    if (!isOpen) return refuseKey(response);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, toDocument(server, 5));
  await assay.result(runId);
  const { rows } = await assay.db.query(
    `select reason, half_open_at from engine_health where tripped_at is not null and engine_id in
      (select unnest(engine_ids) from runs where run_id = $1)`,
    [runId],
  );
  expect(rows).toEqual([{ reason: 'credential', half_open_at: null }]);
  // Whoever starts another run believes that it is mended: one request finds out, and 5 cells are not five probes.
  const again = await begin(assay, toDocument(server, 5));
  await assay.result(again);
  expect(server.calls()).toHaveLength(2);
  isOpen = true;
  await resume(again);
  const calls = (await loadCalls(assay, again)).filter((call) => call.generation === 2);
  expect(calls).toHaveLength(5);
});
