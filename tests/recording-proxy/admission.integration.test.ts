import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { beginCall } from '../../src/store/model-calls.ts';
import { openProxySubject, type ProxySubject } from './subject.ts';
import { post, WIRES } from './wire-cases.ts';

let subject: ProxySubject;
beforeAll(async () => {
  subject = await openProxySubject();
});
afterAll(() => subject.close());

const [chat] = WIRES;
const PATH = '/v1/chat/completions';
const ask = (text: string, more: object = {}) => ({ messages: [{ role: 'user', content: text }], ...more });

const openPaid = (baseUrl: string, more: object = {}) =>
  subject.open({
    provider: { kind: 'openai-compatible', baseUrl },
    model: { price: { input: 1, output: 2 }, params: { maxOutputTokens: 100 } },
    ...more,
  });

test('many requests at once never spend more than the budget, by the count of the endpoint', async () => {
  await using endpoint = await startHttpServer((response, seen) => {
    const completion_tokens = Number(seen.body['max_tokens']);
    const usage = { prompt_tokens: 10, completion_tokens };
    setTimeout(() => sendJson(response, toCompletion({ content: 'ok' }, { usage })), 5);
  });
  const budget = 2e-3;
  await using opened = await openPaid(endpoint.baseUrl, { budgets: { maxRunUsd: budget } });
  const { proxy, cell } = opened;
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const answer = await post(proxy, PATH, ask(`Request ${index}.`));
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as unknown };
    }),
  );
  const spent =
    endpoint.requests.reduce((sum, seen) => sum + 10 + 2 * Number(seen.body['max_tokens']), 0) / 1e6;
  expect(spent).toBeLessThanOrEqual(budget);
  expect(endpoint.requests.length).toBeGreaterThan(5);
  const refused = answers.filter(({ status }) => status === 403);
  expect(refused.length + endpoint.requests.length).toBe(30);
  expect(refused[0]!.body).toMatchObject({ error: { code: 'budget', type: 'permission_error' } });
  expect(refused[0]!.headers.get('x-should-retry')).toBe('false');
  expect(proxy.report().ended).toEqual({ kind: 'stopped', scope: 'run', code: 'budget' });
  expect(proxy.refusing.aborted).toBe(true);
  const { calls } = await subject.read(cell);
  expect(calls.every(({ state }) => state === 'completed')).toBe(true);
  await proxy.close();
  expect(subject.slots.out).toBe(0);
});

test('a cap on output is set where a budget needs one and the agent sets none', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using bounded = await openPaid(endpoint.baseUrl, { budgets: { maxRunUsd: 1 } });
  await post(bounded.proxy, PATH, ask('One.'));
  await post(bounded.proxy, PATH, ask('Two.', { max_completion_tokens: 7 }));
  await using free = await openPaid(endpoint.baseUrl);
  await post(free.proxy, PATH, ask('Three.'));
  const caps = endpoint.requests.map(({ body }) => [body['max_tokens'], body['max_completion_tokens']]);
  expect(caps).toEqual([
    [100, undefined],
    [undefined, 7],
    [undefined, undefined],
  ]);
});

test('a budget that a resume has set bounds requests of a plan that had none', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  const cell = await subject.plan({
    provider: { kind: 'openai-compatible', baseUrl: endpoint.baseUrl },
    model: { price: { input: 1, output: 2 }, params: { maxOutputTokens: 100 } },
  });
  await subject.pool.query(`select set_caps($1, '{"maxRunUsd": 1}')`, [cell.runId]);
  const proxy = await subject.openFor(cell);
  await (await post(proxy, PATH, ask('One.'))).text();
  await proxy.close();
  expect(endpoint.requests.map(({ body }) => body['max_tokens'])).toEqual([100]);
  const { rows } = await subject.pool.query<{ worst_usd: number }>(
    'select worst_usd from model_calls where run_id = $1',
    [cell.runId],
  );
  expect(rows[0]?.worst_usd).toBeGreaterThan(200e-6);
});

test('several answers at once are reserved several times', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl, { budgets: { maxRunUsd: 500e-6 } });
  expect((await post(opened.proxy, PATH, ask('Once.', { n: 5 }))).status).toBe(403);
  expect(endpoint.requests).toHaveLength(0);
});

test('the budget of a model ends its agents alone', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl, { budgets: { maxModelUsd: 50e-6 } });
  expect((await post(opened.proxy, PATH, ask('Once.'))).status).toBe(403);
  expect(opened.proxy.report().ended).toEqual({ kind: 'stopped', scope: 'model', code: 'budget' });
});

test('a run that is stopped answers no request any more', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl);
  await post(opened.proxy, PATH, ask('One.'));
  await subject.pool.query(`select freeze_run($1, 'cancelled', 'by hand')`, [opened.cell.runId]);
  const refused = await post(opened.proxy, PATH, ask('Two.'));
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('cancelled')]);
  expect(opened.proxy.report().ended).toEqual({ kind: 'stopped', scope: 'run', code: 'cancelled' });
  expect(endpoint.requests).toHaveLength(1);
});

test.each([
  ['tokens', { attemptTokens: 40 }, { limit: 40, measured: 50 }],
  ['cost', { attemptCostUsd: 40e-6 }, { limit: 40e-6, measured: expect.closeTo(60e-6, 12) }],
])('the limit of an attempt on %s refuses the request after it', async (kind, limits, figures) => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl, { limits });
  for (const text of ['One.', 'Two.']) await (await post(opened.proxy, PATH, ask(text))).text();
  const refused = await post(opened.proxy, PATH, ask('Three.'));
  expect(await refused.json()).toMatchObject({ error: { code: `attempt_${kind}_limit` } });
  expect(opened.proxy.report().ended).toEqual({ kind: 'limit', limit: { kind, ...figures } });
});

test('a cap on the requests of an agent holds when they come at once', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl, { maxSteps: 3 });
  const answers = await Promise.all(Array.from({ length: 6 }, () => post(opened.proxy, PATH, ask('Go.'))));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(endpoint.requests).toHaveLength(3);
  expect(opened.proxy.report().ended).toMatchObject({ kind: 'limit', limit: { kind: 'steps' } });
});

test('requests wait with the connection open for the rate of their engine', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await subject.open({
    provider: { kind: 'openai-compatible', baseUrl: endpoint.baseUrl, limits: { requestsPerMinute: 60 } },
  });
  const started = Date.now();
  for (const text of ['One.', 'Two.', 'Three.']) await (await post(opened.proxy, PATH, ask(text))).text();
  expect(Date.now() - started).toBeGreaterThan(1_900);
  const { calls } = await subject.read(opened.cell);
  expect(calls.at(-1)?.waitedMs).toBeGreaterThan(200);
});

test('usage that the endpoint does not state is unknown, never 0', async () => {
  const { usage: _usage, ...silent } = chat!.whole;
  await using endpoint = await startHttpServer((response) => sendJson(response, silent));
  await using opened = await openPaid(endpoint.baseUrl, { budgets: { maxRunUsd: 1 } });
  await (await post(opened.proxy, PATH, ask('One.'))).text();
  expect(opened.proxy.report()).toMatchObject({ calls: 1, answers: 1, tokens: null, costUsd: null });
  const { calls } = await subject.read(opened.cell);
  expect(calls).toMatchObject([{ inputTokens: null, outputTokens: null, costUsd: null, estimated: true }]);
});

test('what cannot be bounded or recorded is refused before anything is sent', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, {}));
  const provider = { kind: 'openai', baseUrl: endpoint.baseUrl, apiKeyEnv: 'PROXY_TEST_KEY' };
  const model = { price: { input: 1, output: 2 }, params: { maxOutputTokens: 100 } };
  await using opened = await subject.open({ provider, model, budgets: { maxRunUsd: 1 } });
  const send = (body: object) => post(opened.proxy, '/v1/responses', { input: 'Go.', ...body });
  const stored = await send({ previous_response_id: 'resp_1' });
  expect([stored.status, await stored.text()]).toEqual([
    400,
    expect.stringContaining('previous_response_id'),
  ]);
  expect((await send({ background: true })).status).toBe(400);
  const named = { type: 'input_image', image_url: 'https://example.com/a.png' };
  const shown = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
  const look = (part: object) => send({ input: [{ role: 'user', content: [part] }] });
  expect((await look(named)).status).toBe(400);
  expect((await look(shown)).status).toBe(200);
  expect(endpoint.requests).toHaveLength(1);
});

test('bodies that are too large, no JSON or on another path are refused in the form of the API', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl);
  const { proxy } = opened;
  const large = await post(proxy, '/v1/messages', JSON.stringify(ask('x'.repeat(33 * 1024 * 1024))));
  expect([large.status, await large.json()]).toMatchObject([
    413,
    { type: 'error', error: { type: 'request_too_large' } },
  ]);
  expect((await post(proxy, PATH, '{"messages": [')).status).toBe(400);
  expect((await post(proxy, PATH, '[1]')).status).toBe(400);
  expect((await post(proxy, PATH, 'x', { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
  expect((await post(proxy, '/v1/embeddings', {})).status).toBe(404);
  expect((await post(proxy, '/v1/chat/completions/../../admin', {})).status).toBe(404);
  expect(endpoint.requests).toHaveLength(0);
});

test('a small budget does not wait for what an earlier process of the attempt left open', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  const wanted = {
    provider: { kind: 'openai-compatible', baseUrl: endpoint.baseUrl },
    model: { price: { input: 1, output: 2 }, params: { maxOutputTokens: 100 } },
    budgets: { maxRunUsd: 560e-6 },
  };
  const cell = await subject.plan(wanted);
  const { runId, task, attempt, generation } = cell;
  const key = { runId, task, attempt, generation, tryNumber: 1, purpose: 'agent', step: 1 };
  const engineId = 'gone';
  const call = { key, modelId: 'fast', engineId, worstTokens: 300, worstUsd: 300e-6, maxRetries: 0 };
  expect(await beginCall(subject.pool, call)).toMatchObject({ kind: 'granted' });
  const proxy = await subject.openFor(cell, { ...wanted, tryNumber: 2 });
  for (const text of ['One.', 'Two.']) await (await post(proxy, PATH, ask(text))).text();
  await proxy.close();
  expect(endpoint.requests).toHaveLength(1);
  expect(proxy.report().ended).toMatchObject({ code: 'budget' });
});

test('a second proxy of the same try counts on from the rows', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, chat!.whole));
  await using opened = await openPaid(endpoint.baseUrl);
  await (await post(opened.proxy, PATH, ask('One.'))).text();
  await opened.proxy.close();
  const again = await subject.openFor(opened.cell);
  await (await post(again, PATH, ask('Two.'))).text();
  await again.close();
  const { calls, transcript } = await subject.read(opened.cell);
  expect(calls.map(({ step }) => step)).toEqual([1, 2]);
  expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(again.report()).toMatchObject({ calls: 1, tokens: 50 });
});
