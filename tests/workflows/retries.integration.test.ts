import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, readQuestion, sendEvents, sendJson, startModelServer } from './model-server.ts';
import { begin, loadCalls, loadCells, oracle, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const model = (id: string) => ({ id, provider: 'local', model: id });
const idOf = (seen: { readonly body: { readonly [name: string]: unknown } }) => String(seen.body['model']);

test('AC-R15 AA-05 a call that waits for Retry-After holds no slot: another model passes meanwhile', async () => {
  const seenAt: { id: string; atMs: number }[] = [];
  await using server = await startModelServer((response, seen) => {
    const id = idOf(seen);
    const before = seenAt.filter((one) => one.id === id).length;
    seenAt.push({ id, atMs: Date.now() });
    if (id !== 'limited' || before > 0) return sendJson(response, answerSum(seen));
    response.writeHead(429, { 'retry-after': '2' }).end('{"error":{"message":"slow down"}}');
  });
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 1 } })],
    models: [model('limited'), model('other')],
    suite: sums(1),
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 2 } });
  // Which of the two comes first is the server's choice; the second request of the one that waits is last.
  expect(seenAt.map((one) => one.id).toSorted()).toEqual(['limited', 'limited', 'other']);
  expect(seenAt.at(-1)?.id).toBe('limited');
  const [first, second] = seenAt.filter((one) => one.id === 'limited');
  const waitedMs = (second?.atMs ?? 0) - (first?.atMs ?? 0);
  expect(waitedMs).toBeGreaterThanOrEqual(2_000);
});

test('AA-04 401 makes exactly one request, and the reason names the key', async () => {
  await using server = await startModelServer((response) =>
    sendJson(response, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 401),
  );
  const runId = await begin(assay, { providers: [server.provider()], models: [model('m')], suite: sums(4) });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { infra: 1, not_run: 3 } });
  expect(server.calls()).toHaveLength(1);
  const cell = (await loadCells(assay, runId)).find((one) => one.outcome === 'infra');
  expect(cell).toMatchObject({ reason_code: 'credential', detail: expect.stringContaining('assay resume') });
});

test('AA-04 AC-R17 503 twice and then an answer is three requests; 429 for ever is retries + 1', async () => {
  const counts = new Map<string, number>();
  await using server = await startModelServer((response, seen) => {
    const id = idOf(seen);
    counts.set(id, (counts.get(id) ?? 0) + 1);
    if (id === 'busy') return sendJson(response, { error: { message: 'slow down' } }, 429);
    if ((counts.get(id) ?? 0) <= 2) return sendJson(response, { error: { message: 'try later' } }, 503);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider({ retry: { max: 3, base: '20ms' } })],
    models: [model('flaky'), model('busy')],
    suite: sums(1),
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 1, infra: 1 } });
  expect(Object.fromEntries(counts)).toEqual({ flaky: 3, busy: 4 });
  const cells = await loadCells(assay, runId);
  expect(cells.map((one) => [one.model_id, one.reason_code])).toEqual([
    ['flaky', null],
    ['busy', 'throttled'],
  ]);
});

test('C9 an attempt that failed is tried again at once, while slower ones still run', async () => {
  const counts = new Map<string, number>();
  let arrived = 0;
  const again = Promise.withResolvers<void>();
  await using server = await startModelServer(async (response, seen) => {
    arrived += 1;
    const question = readQuestion(seen);
    const before = counts.get(question) ?? 0;
    counts.set(question, before + 1);
    if (before === 1) again.resolve();
    // The first is the probe, the second the slow one, the third fails.
    if (arrived === 2) await again.promise;
    if (arrived === 3) return sendJson(response, { error: { message: 'try later' } }, 503);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider({ retry: { max: 0 } })],
    models: [model('m')],
    suite: sums(3),
    retries: { max: 1 },
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 3 } });
  expect([...counts.values()].toSorted((a, b) => a - b)).toEqual([1, 1, 2]);
});

/** The bodies of F11, one behaviour a model. */
const BODIES: {
  readonly [id: string]: (number: number) => { status?: number; type?: string; body: string } | null;
} = {
  a: (number) => (number > 2 ? null : { body: '{"error":{"message":"upstream is busy","code":429}}' }),
  b: () => ({ body: '{"error":{"message":"no credits left","code":402}}' }),
  c: () => ({ body: '{"id":"x","choices":[]}' }),
  d: (number) =>
    number > 1
      ? null
      : {
          body: '{"choices":[{"finish_reason":"error","error":{"code":502,"message":"provider gone"},"message":{"role":"assistant","content":""}}]}',
        },
  e: () => ({ type: 'text/html', body: '<!doctype html><html><body><h1>Sign in</h1></body></html>' }),
  f: (number) =>
    number > 2
      ? null
      : {
          status: 503,
          type: 'text/html',
          body: `<h1>400 Bad Request</h1><p>Processed 1400 rows</p>${'<i>'.repeat(66_000)}`,
        },
  broken: () => ({ body: '{"choices":[{"message":{"role":"assist' }),
};

test('F11 bodies that are no answers are never scored, and other models finish', async () => {
  const counts: { [id: string]: number } = {};
  await using server = await startModelServer((response, seen) => {
    const id = idOf(seen);
    counts[id] = (counts[id] ?? 0) + 1;
    const reply = BODIES[id]?.(counts[id]) ?? null;
    if (reply === null) return sendJson(response, answerSum(seen));
    response
      .writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'application/json' })
      .end(reply.body);
  });
  const ids = [...Object.keys(BODIES), 'good'];
  const runId = await begin(assay, {
    // The account without credits is another engine's: its breaker opens.
    providers: [
      server.provider({ retry: { max: 2, base: '10ms' } }),
      server.provider({ id: 'empty', baseUrl: server.baseUrl.replace('127.0.0.1', 'localhost') }),
    ],
    models: ids.map((id) => (id === 'b' ? { ...model(id), provider: 'empty' } : model(id))),
    suite: sums(1),
  });
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  const outcomes = Object.fromEntries(cells.map((one) => [one.model_id, one.outcome]));
  expect(outcomes).toMatchObject({ a: 'scored', d: 'scored', f: 'scored', good: 'scored' });
  for (const id of ['b', 'c', 'e', 'broken']) expect(outcomes[id]).not.toBe('scored');
  expect(counts).toMatchObject({ a: 3, b: 1, d: 2, f: 3, good: 1 });
  expect(cells.find((one) => one.model_id === 'b')?.reason_code).toBe('billing');
  for (const cell of cells.filter((one) => one.outcome !== 'scored')) {
    const { reason } = JSON.parse(cell.detail ?? '{}');
    expect(reason.message.length).toBeLessThan(500);
    expect(reason.message).not.toContain('<h1>');
  }
});

test('F11 a stream that stops in the middle is asked for again; an empty answer is graded as empty', async () => {
  let streams = 0;
  await using server = await startModelServer((response, seen) => {
    if (idOf(seen) === 'empty') return sendStream(response, '', 'stop');
    streams += 1;
    if (streams > 1) return sendStream(response, '1', 'stop');
    sendEvents(response, [{ choices: [{ index: 0, delta: { content: '1' } }] }]);
    response.destroy();
  });
  const runId = await begin(assay, {
    providers: [server.provider({ stream: true, retry: { base: '10ms' } })],
    models: [model('cut'), model('empty')],
    suite: sums(1),
  });
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  expect(cells.map((one) => [one.model_id, one.outcome, one.score])).toEqual([
    ['cut', 'scored', 1],
    ['empty', 'scored', 0],
  ]);
  expect(streams).toBe(2);
});

function sendStream(response: Parameters<typeof sendEvents>[0], text: string, finish: string): void {
  sendEvents(response, [
    { choices: [{ index: 0, delta: { role: 'assistant', content: text } }] },
    {
      choices: [{ index: 0, delta: {}, finish_reason: finish }],
      usage: { prompt_tokens: 9, completion_tokens: 2 },
    },
    '[DONE]',
  ]);
  response.end();
}

type TryRow = {
  readonly try_number: number;
  readonly scope: string;
  readonly pattern: string | null;
  readonly error: string;
};
const loadTries = async (runId: string): Promise<TryRow[]> => {
  const { rows } = await assay.db.query(
    'select * from tries where run_id = $1 order by attempt, try_number',
    [runId],
  );
  return rows;
};

const down = { fault: { status: 500, text: 'the engine is down' } };
const once = { id: 'once', kind: 'mock', baseUrl: 'http://once.invalid', retry: { max: 0 } };

test('AC-R1 AC-R9 AC-R14 AC-R2 the tries of an attempt are rows outside the counted set, with their own budget', async () => {
  const runId = await begin(assay, {
    providers: [once],
    models: [{ ...oracle('right', { faults: [{ attempt: 1, ...down }] }), provider: 'once' }],
    suite: sums(1),
    attempts: { k: 2 },
    retries: { max: 1 },
    execution: { seed: 5 },
  });
  expect(await assay.result(runId)).toMatchObject({ planned: 2, outcomes: { infra: 1, scored: 1 } });
  expect(await loadTries(runId)).toMatchObject([
    { try_number: 1, scope: 'attempt', pattern: null, error: expect.stringContaining('engine is down') },
  ]);
  const calls = (await loadCalls(assay, runId)).filter((one) => one.attempt === 1);
  expect(calls.map((one) => one.try_number)).toEqual([1, 2]);
  const waitMs = Number(calls[1]?.started_at) - Number(calls[0]?.finished_at);
  expect(waitMs).toBeGreaterThanOrEqual(2_500);
  expect((await loadCells(assay, runId)).map((one) => one.try_number)).toEqual([2, 1]);
});

test('AC-R3 patterns choose what is tried again: [] nothing, a list by message or code', async () => {
  const request = (name: string, patterns: string[]) => ({
    name,
    suite: sums(1),
    retries: { max: 1, patterns },
  });
  const runId = await begin(assay, {
    providers: [once],
    models: [{ ...oracle('right', { faults: [down] }), provider: 'once' }],
    requests: [request('none', []), request('other', ['^timeout']), request('code', ['^server$'])],
  });
  await assay.result(runId);
  expect(await loadTries(runId)).toMatchObject([{ pattern: '^server$' }]);
  expect((await loadCells(assay, runId)).map((one) => one.try_number)).toEqual([1, 1, 2]);
});
