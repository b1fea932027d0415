import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { KEY, openProxySubject, type ProxySubject } from './subject.ts';

let subject: ProxySubject;
beforeAll(async () => {
  subject = await openProxySubject();
});
afterAll(() => subject.close());

test('a chat request goes to the endpoint with its key and comes back as it is', async () => {
  await using endpoint = await startHttpServer((response) =>
    sendJson(response, toCompletion({ content: 'Hi.' })),
  );
  await using opened = await subject.open({
    provider: { kind: 'openai-compatible', baseUrl: endpoint.baseUrl, apiKeyEnv: 'PROXY_TEST_KEY' },
    model: { price: { input: 1, output: 2 } },
  });
  const { proxy, cell } = opened;
  const answer = await fetch(`${proxy.baseUrls.openai}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${proxy.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/tiny-1', messages: [{ role: 'user', content: 'Hello.' }] }),
  });
  expect(await answer.text()).toBe(JSON.stringify(toCompletion({ content: 'Hi.' })));
  expect(endpoint.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(endpoint.requests[0]?.body).toMatchObject({ model: 'tiny-1' });
  const { calls, transcript, warnings } = await subject.read(cell);
  expect(calls).toMatchObject([
    { step: 1, state: 'completed', inputTokens: 9, outputTokens: 7, costUsd: 23e-6 },
  ]);
  expect(transcript.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'Hello.'],
    ['assistant', 'Hi.'],
  ]);
  expect(warnings).toEqual([]);
  expect(proxy.report()).toMatchObject({ calls: 1, answers: 1, tokens: 16, costUsd: 23e-6, ended: null });
});
