import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/domain/transcript.ts';
import { UNKNOWN_USAGE } from '../../../src/domain/usage.ts';
import { createProvider } from '../../../src/providers/lookup.ts';
import type { Reply } from '../http-server.ts';
import { sendJson, startHttpServer } from '../http-server.ts';
import { failCall, NEVER, toRequest, toSpec } from '../requests.ts';
import type { Said, WireFailure, WireForm } from './wire-form.ts';
import { KEY, sendWireEvents, serveWire, speak } from './wire-server.ts';
import type { Way } from './wire-server.ts';

const LOOK = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };
const PAGE = '<!doctype html><html><body><h1>Sign in</h1></body></html>';

/** The one suite that every API passes over a real server that speaks its form. */
export function testWireContract(form: WireForm, way: Way): void {
  describe(`wire of ${form.name}, ${way}`, () => {
    const call = async (said: Said) => {
      await using scene = await serveWire(form, way, speak(form, way, said));
      return await scene.provider.call(toRequest(scene.request), NEVER);
    };

    testAnswers(form, call);
    testLoop(form, way);
    testFailures(form, way);
    if (way === 'whole') testHealth(form);
    testBrokenAnswers(form, way);
    if (way === 'streamed') testBrokenStreams(form);
  });
}

function testAnswers(form: WireForm, call: (said: Said) => Promise<unknown>): void {
  test('counts what the API counts, to the last chunk', async () => {
    const counts = { input: 120, output: 50, cacheRead: 100, reasoning: form.counts.reasoning ? 30 : 0 };
    expect(await call({ text: 'Paris', counts })).toMatchObject({
      usage: {
        inputTokens: 120,
        outputTokens: 50,
        cacheReadTokens: 100,
        ...(form.counts.reasoning ? { reasoningTokens: 30 } : {}),
      },
    });
  });

  test('takes a count that is not there as unknown, never as 0', async () => {
    expect(await call({ text: 'Paris', counts: null })).toMatchObject({ usage: UNKNOWN_USAGE });
  });

  test('keeps thoughts apart from the text', async () => {
    const answer = await call({ thought: 'France, so', text: 'Paris' });
    // Chat completions of OpenAI itself carry no thoughts.
    const reasoning = form.name === 'openai chat' ? null : 'France, so';
    expect(answer).toMatchObject({ message: { text: 'Paris', reasoning } });
  });

  test('says that an answer was cut, and that a filter or a refusal ended it', async () => {
    expect(await call({ text: 'Par', finish: 'length' })).toMatchObject({ finishReason: 'length' });
    expect(await call({ text: 'I cannot.', finish: 'filter' })).toMatchObject({
      finishReason: 'content_filter',
      message: { text: 'I cannot.' },
    });
  });

  test('an answer without a word is an empty text', async () => {
    expect(await call({})).toMatchObject({ message: { text: '', toolCalls: [] } });
  });

  test('CB-10 zero tokens and an error text are no evidence of a model', async () => {
    const counts = { input: 0, output: 0, cacheRead: 0, reasoning: 0 };
    const failed = call({ text: 'Error: insufficient balance', counts });
    await expect(failed).rejects.toMatchObject({ classified: { class: 'no_evidence', retryable: false } });
  });
}

function testLoop(form: WireForm, way: Way): void {
  test('F19 an agent goes on: the next request holds the answer as the API wants it back', async () => {
    const said: Said = {
      ...(form.thinks ? { thought: 'Look first.' } : {}),
      text: 'I look.',
      tools: [{ name: 'look', arguments: '{"where":"here"}' }],
    };
    const reply: Reply = (response, seen, number) =>
      speak(form, way, number === 1 ? said : { text: 'A door.' })(response, seen, number);
    await using scene = await serveWire(form, way, reply);
    const messages: Message[] = [{ role: 'user', text: 'What is there?' }];
    const part = { ...scene.request, tools: [LOOK] };
    const { message } = await scene.provider.call(toRequest({ ...part, messages }), NEVER);
    // What lies between two steps is the store: plain JSON.
    const stored: Message = JSON.parse(JSON.stringify(message));
    const result: Message = {
      role: 'tool',
      toolCallId: message.toolCalls[0]?.id ?? '',
      toolName: 'look',
      text: 'a door',
      status: 'success',
    };
    const second = { ...part, messages: [...messages, stored, result] };
    const answer = await scene.provider.call(toRequest(second), NEVER);
    expect(answer.message.text).toBe('A door.');
    expect(form.readTurn(scene.requests[1]!)).toEqual(form.turn);
  });

  test('sends its key as the API wants it, and no prompt or key into an error', async () => {
    await using scene = await serveWire(form, way, (response) =>
      sendJson(response, { error: { message: `no such key: ${KEY}` } }, 401),
    );
    const error = await failCall(scene.provider, scene.request);
    expect(String(form.readKey(scene.requests[0]!))).toContain(KEY);
    expect(JSON.stringify(scene.requests[0]!.headers)).not.toContain('unused');
    expect(error.message).toBe('HTTP 401: no such key: [key]');
  });
}

/** Nothing is expected of a wait that a failure does not state. */
const isBetween = (waitMs: number | null, [least, most]: readonly (number | null)[]): boolean =>
  least === null || most === null || (waitMs !== null && waitMs >= (least ?? 0) && waitMs <= (most ?? 0));

function testHealth(form: WireForm): void {
  test('a refused key is found before anything is spent', async () => {
    const failure = form.failures.find((one) => one.expect.class === 'credential')!;
    await using server = await startHttpServer((response) =>
      sendJson(response, failure.body, failure.status),
    );
    const provider = createProvider(toSpec({ kind: form.kind, baseUrl: server.baseUrl }), { apiKey: KEY });
    expect(await provider.checkHealth(NEVER)).toMatch(/^the key was refused: HTTP 40\d/);
    expect(String(form.readKey(server.requests[0]!))).toContain(KEY);
  });
}

function testFailures(form: WireForm, way: Way): void {
  test.each(form.failures.map((failure) => [failure.name, failure] as const))(
    'F11 F12 takes for what it is: %s',
    async (_name, failure: WireFailure) => {
      await using scene = await serveWire(form, way, (response) => {
        response.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers });
        response.end(JSON.stringify(failure.body));
      });
      const { classified } = await failCall(scene.provider, scene.request);
      const { retryAfterMs: wait = [null, null], ...verdict } = failure.expect;
      expect(classified).toMatchObject(verdict);
      expect(isBetween(classified.retryAfterMs, wait)).toBe(true);
      expect(scene.requests).toHaveLength(1);
    },
  );

  test('a refused connection is tried again, and cost nothing', async () => {
    const provider = createProvider(toSpec({ kind: form.kind, baseUrl: 'http://127.0.0.1:1/v1' }), {
      apiKey: null,
    });
    const error = await failCall(provider, { model: form.model, params: form.params });
    expect(error.classified).toMatchObject({ class: 'connection', retryable: true, served: false });
  });
}

function testBrokenAnswers(form: WireForm, way: Way): void {
  const send =
    (type: string, body: string): Reply =>
    (response) => {
      response.writeHead(200, { 'content-type': type }).end(body);
    };

  test.each([
    ['a page', send('text/html', PAGE), { class: 'bad_answer', retryable: false }],
    ['malformed JSON', send('application/json', '{"id": "x", '), { class: 'bad_answer', retryable: true }],
    ['nothing', send('application/json', ''), { class: 'bad_answer', retryable: true }],
    ['an object without an answer', send('application/json', '{}'), { class: 'bad_answer', retryable: true }],
  ])('%s with status 200 is no answer', async (_name, reply, expected) => {
    await using scene = await serveWire(form, way, reply);
    const { classified } = await failCall(scene.provider, scene.request);
    expect(classified).toMatchObject(expected);
  });
}

function testBrokenStreams(form: WireForm): void {
  test('a stream that stops before its end is tried again', async () => {
    await using scene = await serveWire(form, 'streamed', (response) => {
      sendWireEvents(response, form.toEvents({ text: 'Paris' }).slice(0, 2));
      response.end();
    });
    const error = await failCall(scene.provider, scene.request);
    expect(error.classified).toMatchObject({ class: 'connection', retryable: true });
    expect(error.message).toMatch(/the stream stopped after 2 events/);
  });

  test('an overload in the middle of a stream is what it says, not half an answer', async () => {
    await using scene = await serveWire(form, 'streamed', (response) => {
      sendWireEvents(response, [...form.toEvents({ text: 'Paris' }).slice(0, 3), form.overload.event]);
      response.end();
    });
    const error = await failCall(scene.provider, scene.request);
    expect(error.classified).toMatchObject({ class: 'server', retryable: true });
    expect(error.message).toMatch(form.overload.message);
  });

  test('malformed JSON in an event names the event', async () => {
    await using scene = await serveWire(form, 'streamed', (response) => {
      sendWireEvents(response, [...form.toEvents({ text: 'Paris' }).slice(0, 1), { data: '{"a": ' }]);
      response.end();
    });
    const error = await failCall(scene.provider, scene.request);
    expect(error.classified).toMatchObject({ class: 'bad_answer', retryable: true });
    expect(error.message).toMatch(/malformed JSON in event 2/);
  });
}
