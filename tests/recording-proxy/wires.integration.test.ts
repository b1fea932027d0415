import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendJson, startHttpServer } from '../providers/http-server.ts';
import { KEY, openProxySubject, type ProxySubject } from './subject.ts';
import { CHAT_COUNTS, post, SAID, stream, WIRES } from './wire-cases.ts';

let subject: ProxySubject;
beforeAll(async () => {
  subject = await openProxySubject();
});
afterAll(() => subject.close());

const PRICE = { input: 1, output: 2 };
/** 20 tokens in, 5 out. */
const COST = 30e-6;

describe.each(WIRES)('$name', ({ kind, path, request, whole, events }) => {
  const open = (baseUrl: string) =>
    subject.open({
      provider: { kind, baseUrl, apiKeyEnv: 'PROXY_TEST_KEY' },
      model: { price: PRICE, params: { maxOutputTokens: 100 } },
    });

  test('a whole answer comes back byte by byte, is paid and recorded', async () => {
    await using endpoint = await startHttpServer((response) => sendJson(response, whole));
    await using opened = await open(endpoint.baseUrl);
    const { proxy, cell } = opened;
    const answer = await post(proxy, `${path}?beta=true`, request({ temperature: 0.5, model: 'other' }));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(JSON.stringify(whole));
    const [seen] = endpoint.requests;
    expect(seen?.path).toBe(`${path}?beta=true`);
    expect(seen?.body).toEqual(request({ temperature: 0.5 }));
    const { calls, transcript, warnings } = await subject.read(cell);
    expect(calls).toMatchObject([
      { purpose: 'agent', step: 1, requestNumber: 1, state: 'completed', inputTokens: 20, outputTokens: 5 },
    ]);
    expect(calls[0]?.costUsd).toBeCloseTo(COST, 12);
    expect(transcript.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Say it.'],
      ['assistant', SAID],
    ]);
    expect(warnings.map((one) => one.message)).toEqual([
      'the agent asked for model "other"; every request went to tiny-1',
    ]);
    expect(proxy.report()).toMatchObject({
      calls: 1,
      answers: 1,
      tokens: 25,
      ended: null,
      lastFailure: null,
    });
  });

  test('a streamed answer comes back byte by byte, is paid and recorded', async () => {
    await using endpoint = await startHttpServer((response) => {
      stream(response, events);
      response.end();
    });
    await using opened = await open(endpoint.baseUrl);
    const { proxy, cell } = opened;
    const answer = await post(proxy, path, request({ stream: true }));
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const hidden = events.filter((event) => event !== CHAT_COUNTS);
    expect(await answer.text()).toBe(hidden.join(''));
    const { calls, transcript } = await subject.read(cell);
    expect(calls).toMatchObject([{ state: 'completed', inputTokens: 20, outputTokens: 5 }]);
    expect(transcript.map(({ text }) => text)).toEqual(['Say it.', SAID]);
  });

  test('the pieces of a stream are handed on while the model still writes', async () => {
    const rest = Promise.withResolvers<void>();
    await using endpoint = await startHttpServer(async (response) => {
      stream(response, events.slice(0, 1));
      await rest.promise;
      for (const event of events.slice(1)) response.write(event);
      response.end();
    });
    await using opened = await open(endpoint.baseUrl);
    const answer = await post(opened.proxy, path, request({ stream: true }));
    const reader = answer.body!.getReader();
    const first = await reader.read();
    expect(Buffer.from(first.value!).toString('utf8')).toBe(events[0]);
    rest.resolve();
    for (let read = first; !read.done; read = await reader.read());
    expect((await subject.read(opened.cell)).calls).toMatchObject([{ state: 'completed' }]);
  });

  test('the provider gets its key and never the token; the agent never sees the key', async () => {
    await using endpoint = await startHttpServer((response) =>
      sendJson(response, { error: { message: `wrong key ${KEY}` } }, 401),
    );
    await using opened = await open(endpoint.baseUrl);
    const { proxy, cell } = opened;
    const answer = await post(proxy, path, request(), { headers: { 'x-api-key': proxy.token } });
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('wrong key [redacted]');
    const { headers } = endpoint.requests[0]!;
    expect(headers['x-api-key'] ?? headers.authorization).toMatch(new RegExp(`^(Bearer )?${KEY}$`));
    expect(JSON.stringify(headers)).not.toContain(proxy.token);
    const { calls } = await subject.read(cell);
    expect(calls).toMatchObject([{ state: 'failed', failureClass: 'credential', costUsd: null }]);
    expect(JSON.stringify(calls)).not.toContain(KEY);
    expect(proxy.report().lastFailure).toMatchObject({ class: 'credential', status: 401 });
  });

  test('a request without the token is refused in the form of its API', async () => {
    await using endpoint = await startHttpServer((response) => sendJson(response, whole));
    await using opened = await open(endpoint.baseUrl);
    const answer = await post(opened.proxy, path, request(), { token: 'guessed' });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { type: 'authentication_error' } });
    expect(endpoint.requests).toHaveLength(0);
    expect((await subject.read(opened.cell)).calls).toEqual([]);
  });

  test('a history that is sent again is kept once', async () => {
    await using endpoint = await startHttpServer((response) => sendJson(response, whole));
    await using opened = await open(endpoint.baseUrl);
    const { proxy, cell } = opened;
    const turn = (role: string, content: string) => ({ role, content });
    const history = [turn('user', 'Say it.'), turn('assistant', SAID), turn('user', 'Again.')];
    await (await post(proxy, path, request())).text();
    const field = 'input' in request() ? 'input' : 'messages';
    await (await post(proxy, path, request({ [field]: history }))).text();
    const { transcript, calls } = await subject.read(cell);
    expect(transcript.map(({ text }) => text)).toEqual(['Say it.', SAID, 'Again.', SAID]);
    expect(calls.map(({ step }) => step)).toEqual([1, 2]);
  });
});

test('an agent that asks for the counts of a chat stream gets them', async () => {
  const [chat] = WIRES;
  await using endpoint = await startHttpServer((response) => {
    stream(response, chat!.events);
    response.end();
  });
  await using opened = await subject.open({ provider: { kind: chat!.kind, baseUrl: endpoint.baseUrl } });
  const asked = chat!.request({ stream: true, stream_options: { include_usage: true } });
  const answer = await post(opened.proxy, chat!.path, asked);
  expect(await answer.text()).toBe(chat!.events.join(''));
});

test('models are listed by name, and tokens are counted by the provider', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, { input_tokens: 42 }));
  await using opened = await subject.open({
    provider: { kind: 'anthropic', baseUrl: endpoint.baseUrl, apiKeyEnv: 'PROXY_TEST_KEY' },
    model: { params: { maxOutputTokens: 10 } },
  });
  const { proxy, cell } = opened;
  const listed = await fetch(`${proxy.baseUrls.openai}/models`, { headers: { 'x-api-key': proxy.token } });
  expect(await listed.json()).toMatchObject({ data: [{ id: 'tiny-1' }, { id: 'fast' }] });
  const counted = await post(proxy, '/v1/messages/count_tokens', { model: 'x', messages: [] });
  expect(await counted.json()).toEqual({ input_tokens: 42 });
  expect(endpoint.requests[0]).toMatchObject({
    path: '/v1/messages/count_tokens',
    body: { model: 'tiny-1' },
  });
  expect((await subject.read(cell)).calls).toEqual([]);
});
