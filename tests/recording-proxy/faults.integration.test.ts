import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendJson, startHttpServer } from '../providers/http-server.ts';
import { ProxyUnreachableError } from '../../src/activities/recording-proxy.ts';
import { SessionLostError, type EnvironmentSession } from '../../src/environments/environment.ts';
import { openProxySubject, type ProxySubject } from './subject.ts';
import { post, stream, WIRES } from './wire-cases.ts';

let subject: ProxySubject;
beforeAll(async () => {
  subject = await openProxySubject();
});
afterAll(() => subject.close());

const PRICE = { input: 1, output: 2 };

const open = (kind: string, baseUrl: string, timeouts: { readonly [name: string]: string } = {}) =>
  subject.open({
    provider: { kind, baseUrl, apiKeyEnv: 'PROXY_TEST_KEY', timeouts },
    model: { price: PRICE, params: { maxOutputTokens: 100 } },
    budgets: { maxRunUsd: 1 },
  });

const spentUsd = async (runId: string): Promise<number> => {
  const { rows } = await subject.pool.query<{ spent: number; reserved: number }>(
    `select spent_usd::float8 as spent, reserved_usd::float8 as reserved from reservations
     where run_id = $1 and scope = 'run'`,
    [runId],
  );
  expect(rows[0]?.reserved).toBe(0);
  return rows[0]?.spent ?? 0;
};

describe.each(WIRES)('$name', ({ kind, path, request, whole, events }) => {
  test('a 429 goes back with its Retry-After, costs nothing, and the agent may ask again', async () => {
    await using endpoint = await startHttpServer((response, _seen, number) => {
      if (number > 1) return sendJson(response, whole);
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
      response.end('{"error":{"message":"slow down"}}');
    });
    await using opened = await open(kind, endpoint.baseUrl);
    const first = await post(opened.proxy, path, request());
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await first.text()).toBe('{"error":{"message":"slow down"}}');
    const second = await post(opened.proxy, path, request());
    expect(await second.text()).toBe(JSON.stringify(whole));
    const { calls } = await subject.read(opened.cell);
    expect(calls).toMatchObject([
      { step: 1, requestNumber: 1, state: 'failed', failureClass: 'throttled', estimated: false },
      { step: 2, requestNumber: 1, state: 'completed' },
    ]);
    expect(await spentUsd(opened.cell.runId)).toBeCloseTo(30e-6, 12);
    expect(subject.throttled.length).toBeGreaterThan(0);
  });

  test('a 500 and a page instead of an answer go back as they are', async () => {
    const page = '<!doctype html><html><body>Bad gateway</body></html>';
    await using endpoint = await startHttpServer((response, _seen, number) => {
      if (number === 1) return sendJson(response, { error: { message: 'broken' } }, 500);
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    });
    await using opened = await open(kind, endpoint.baseUrl);
    expect((await post(opened.proxy, path, request())).status).toBe(500);
    const second = await post(opened.proxy, path, request());
    expect([second.status, await second.text()]).toEqual([200, page]);
    const { calls } = await subject.read(opened.cell);
    expect(calls).toMatchObject([
      { failureClass: 'server' },
      { failureClass: 'bad_answer', state: 'failed' },
    ]);
  });

  test('a stream that is cut off breaks off for the agent too, and is charged at its worst case', async () => {
    await using endpoint = await startHttpServer((response) => {
      stream(response, events.slice(0, 2));
      setTimeout(() => response.destroy(), 20);
    });
    await using opened = await open(kind, endpoint.baseUrl);
    const answer = await post(opened.proxy, path, request({ stream: true }));
    await expect(answer.text()).rejects.toThrow(/terminated/);
    await opened.proxy.close();
    const { calls } = await subject.read(opened.cell);
    expect(calls).toMatchObject([
      { state: 'failed', failureClass: 'connection', estimated: true, costUsd: null, inputTokens: null },
    ]);
    const bytes = JSON.stringify(request({ stream: true })).length;
    expect(await spentUsd(opened.cell.runId)).toBeCloseTo((bytes + 200) / 1e6, 12);
  });

  test('an endpoint that hangs ends with the time-out of its provider', async () => {
    await using endpoint = await startHttpServer(() => undefined);
    await using opened = await open(kind, endpoint.baseUrl, { firstByte: '200ms' });
    const answer = await post(opened.proxy, path, request());
    expect(answer.status).toBe(504);
    expect(JSON.stringify(await answer.json())).toContain('first byte');
    expect((await subject.read(opened.cell)).calls).toMatchObject([
      { failureClass: 'time_out', estimated: true },
    ]);
  });

  test('an endpoint that is not there is a failure of the connection that costs nothing', async () => {
    await using opened = await open(kind, 'http://127.0.0.1:9/v1');
    const answer = await post(opened.proxy, path, request());
    expect(answer.status).toBe(502);
    expect((await subject.read(opened.cell)).calls).toMatchObject([
      { failureClass: 'connection', estimated: false },
    ]);
    expect(await spentUsd(opened.cell.runId)).toBe(0);
  });

  test('an agent that leaves ends its request at the endpoint, which is charged at its worst case', async () => {
    const left = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await using endpoint = await startHttpServer((response) => {
      response.once('close', () => left.resolve());
      stream(response, events.slice(0, 1));
      asked.resolve();
    });
    await using opened = await open(kind, endpoint.baseUrl);
    const leave = new AbortController();
    const answer = post(opened.proxy, path, request({ stream: true }), { signal: leave.signal });
    await asked.promise;
    await delay(20);
    leave.abort();
    await expect(answer.then((one) => one.text())).rejects.toThrow(/abort/i);
    await left.promise;
    await opened.proxy.close();
    expect((await subject.read(opened.cell)).calls).toMatchObject([
      { state: 'failed', failureClass: 'cancelled', estimated: true },
    ]);
  });

  test('what is in flight when the attempt ends is cut off and settled', async () => {
    const asked = Promise.withResolvers<void>();
    await using endpoint = await startHttpServer(() => asked.resolve());
    await using opened = await open(kind, endpoint.baseUrl);
    const answer = post(opened.proxy, path, request());
    const broken = answer.then(
      () => null,
      (error: unknown) => String(error),
    );
    await asked.promise;
    await opened.proxy.close();
    expect(await broken).toContain('fetch failed');
    expect((await subject.read(opened.cell)).calls).toMatchObject([
      { state: 'failed', failureClass: 'cancelled', estimated: true },
    ]);
    await expect(post(opened.proxy, path, request())).rejects.toThrow(/fetch failed/);
  });
});

test('a wait of more than a minute that a provider asks for pauses its engine for all', async () => {
  const [chat] = WIRES;
  await using endpoint = await startHttpServer((response) => {
    response.writeHead(429, { 'retry-after': '120' }).end('{"error":{"message":"later"}}');
  });
  await using opened = await open(chat!.kind, endpoint.baseUrl);
  await (await post(opened.proxy, chat!.path, chat!.request())).text();
  const { rows } = await subject.pool.query(
    `select 1 from engines where paused_until > now() + interval '100 seconds'`,
  );
  expect(rows).toHaveLength(1);
  const leave = AbortSignal.timeout(300);
  await expect(post(opened.proxy, chat!.path, chat!.request(), { signal: leave })).rejects.toThrow(/abort/i);
  expect(endpoint.requests).toHaveLength(1);
});

test('an agent that leaves after the last word has a whole answer', async () => {
  const [chat] = WIRES;
  await using endpoint = await startHttpServer(async (response) => {
    stream(response, chat!.events.slice(0, 3));
    await delay(100);
    for (const event of chat!.events.slice(3)) response.write(event);
    response.end();
  });
  await using opened = await open(chat!.kind, endpoint.baseUrl);
  const leave = new AbortController();
  const answer = await post(opened.proxy, chat!.path, chat!.request({ stream: true }), {
    signal: leave.signal,
  });
  const reader = answer.body!.getReader();
  let text = '';
  while (!text.includes('"stop"')) text += Buffer.from((await reader.read()).value!).toString('utf8');
  leave.abort();
  await opened.proxy.close();
  expect((await subject.read(opened.cell)).calls).toMatchObject([
    { state: 'completed', inputTokens: 20, outputTokens: 5 },
  ]);
});

test('an answer that was paid is held until the store takes it', async () => {
  const [chat] = WIRES;
  await using endpoint = await startHttpServer((response) => {
    subject.breakStore(3);
    sendJson(response, chat!.whole);
  });
  await using opened = await open(chat!.kind, endpoint.baseUrl);
  const answer = await post(opened.proxy, chat!.path, chat!.request());
  expect(await answer.json()).toEqual(chat!.whole);
  expect(subject.breakStore(0)).toBe(0);
  expect((await subject.read(opened.cell)).calls).toMatchObject([{ state: 'completed', requestNumber: 1 }]);
});

test('a session that is gone, or that no server of the worker reaches, is told apart from faults of the store', async () => {
  const cell = await subject.plan({ provider: { kind: 'mock' }, model: { model: 'empty' } });
  const failing = (error: Error) =>
    ({ listen: () => Promise.reject(error) }) as unknown as EnvironmentSession;
  const lost = subject.openFor(cell, { session: failing(new SessionLostError('gone')) });
  await expect(lost).rejects.toThrow(SessionLostError);
  const unreached = subject.openFor(cell, { session: failing(new Error('no nsenter')) });
  await expect(unreached).rejects.toThrow(ProxyUnreachableError);
});

test('an agent that does not read holds back the endpoint, and gets all once it reads', async () => {
  const [chat] = WIRES;
  const filler = `: ${'x'.repeat(64 * 1024)}\n\n`;
  const count = 480;
  let sent = 0;
  await using endpoint = await startHttpServer(async (response) => {
    stream(response, []);
    for (sent = 0; sent < count; sent += 1) if (!response.write(filler)) await once(response, 'drain');
    for (const event of chat!.events) response.write(event);
    response.end();
  });
  await using opened = await open(chat!.kind, endpoint.baseUrl, { idle: '200ms' });
  const { hostname, port } = new URL(opened.proxy.baseUrls.openai);
  const agent = connect(Number(port), hostname);
  const text = JSON.stringify(chat!.request({ stream: true }));
  agent.write(
    `POST ${chat!.path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${opened.proxy.token}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  await once(agent, 'readable');
  await delay(500);
  expect(sent).toBeLessThan(count / 2);
  let bytes = 0;
  for await (const chunk of agent) bytes += (chunk as Buffer).length;
  expect(bytes).toBeGreaterThan(count * filler.length);
  expect((await subject.read(opened.cell)).calls).toMatchObject([{ state: 'completed', outputTokens: 5 }]);
}, 30_000);
