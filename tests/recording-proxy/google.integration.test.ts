import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendJson, startHttpServer } from '../providers/http-server.ts';
import { KEY, openProxySubject, type ProxySubject } from './subject.ts';
import { post, stream } from './wire-cases.ts';

let subject: ProxySubject;
beforeAll(async () => {
  subject = await openProxySubject();
});
afterAll(() => subject.close());

const TEXT = 'The wire carries – this.';
const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 };
const chunk = (text: string, rest: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...rest }],
  responseId: 'g1',
});
const whole = { ...chunk(TEXT, { finishReason: 'STOP' }), usageMetadata };
const events = [
  chunk('The wire '),
  { ...chunk('carries – this.', { finishReason: 'STOP' }), usageMetadata },
].map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`);

const request = { contents: [{ role: 'user', parts: [{ text: 'Say it.' }] }] };

const open = (baseUrl: string) =>
  subject.open({
    provider: { kind: 'google', baseUrl, apiKeyEnv: 'PROXY_TEST_KEY' },
    model: { price: { input: 1, output: 2 }, params: { maxOutputTokens: 100 } },
  });

const PLACE = '/v1beta/models/gemini-other';

test.each([
  { way: 'whole', call: 'generateContent', answered: JSON.stringify(whole) },
  { way: 'streamed', call: 'streamGenerateContent?alt=sse', answered: events.join('') },
])('Google, $way: an answer comes back byte by byte, is paid and recorded', async ({ call, answered }) => {
  await using endpoint = await startHttpServer((response) => {
    if (call === 'generateContent') return sendJson(response, whole);
    stream(response, events);
    response.end();
  });
  await using opened = await open(endpoint.baseUrl);
  const { proxy, cell } = opened;
  const headers = { 'x-goog-api-key': proxy.token, authorization: '' };
  const answer = await post(proxy, `${PLACE}:${call}`, request, { headers });
  expect(await answer.text()).toBe(answered);
  const [seen] = endpoint.requests;
  expect(seen?.path).toBe(`/v1/models/tiny-1:${call}`);
  expect(seen?.headers['x-goog-api-key']).toBe(KEY);
  // A cap is set where one holds; what the proxy reads of the path is not sent on.
  expect(seen?.body).toEqual(request);
  const { calls, transcript, warnings } = await subject.read(cell);
  expect(calls).toMatchObject([{ step: 1, state: 'completed', inputTokens: 20, outputTokens: 5 }]);
  expect(calls[0]?.costUsd).toBeCloseTo(30e-6, 12);
  expect(transcript.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'Say it.'],
    ['assistant', TEXT],
  ]);
  expect(warnings.map((one) => one.message)).toEqual([
    'the agent asked for model "gemini-other"; every request went to tiny-1',
  ]);
});

test('Google: the token is taken from the address as well and not sent on; a stream that is none is refused', async () => {
  await using endpoint = await startHttpServer((response) => sendJson(response, whole));
  await using opened = await open(endpoint.baseUrl);
  const { proxy } = opened;
  const nobody = { headers: { authorization: '' } };
  const without = await post(proxy, `${PLACE}:generateContent`, request, nobody);
  expect([without.status, await without.json()]).toMatchObject([
    401,
    { error: { code: 401, status: 'UNAUTHENTICATED', details: [{ reason: 'invalid_api_key' }] } },
  ]);
  const asked = await post(proxy, `${PLACE}:generateContent?key=${proxy.token}`, request, nobody);
  expect(asked.status).toBe(200);
  expect(endpoint.requests.map(({ path }) => path)).toEqual(['/v1/models/tiny-1:generateContent']);
  const array = await post(proxy, `${PLACE}:streamGenerateContent`, request);
  expect([array.status, await array.text()]).toEqual([400, expect.stringContaining('ask with ?alt=sse')]);
  const unknown = await post(proxy, `${PLACE}:embedContent`, request);
  expect(unknown.status).toBe(404);
});
