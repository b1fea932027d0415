import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Target } from '../../src/domain/suite.ts';
import type { Message } from '../../src/domain/transcript.ts';
import { createProvider } from '../../src/providers/lookup.ts';
import { failCall, NEVER, toRequest, toSpec } from './requests.ts';
import type { RequestPart } from './requests.ts';

const toMock = (target: Target | null = null) =>
  createProvider(toSpec({ kind: 'mock' }), { apiKey: null, resolveTarget: async () => target });

const ask = (part: RequestPart, target: Target | null = null) => toMock(target).call(toRequest(part), NEVER);
const say = async (part: RequestPart, target: Target | null = null) => (await ask(part, target)).message.text;

describe('modes', () => {
  test('oracle says the target: a text, the first of a list, JSON', async () => {
    expect(await say({ model: 'oracle' }, { values: ['Paris'] })).toBe('Paris');
    expect(await say({ model: 'oracle' }, { values: [42, 'or this'] })).toBe('42');
    expect(await say({ model: 'oracle' }, { values: [{ city: 'Paris' }] })).toBe('{"city":"Paris"}');
    expect(await say({ model: 'oracle' }, null)).toBe('');
  });

  test('fixed, echo, empty and answers say what they are told', async () => {
    expect(await say({ model: 'fixed', params: { text: 'hello' } })).toBe('hello');
    expect(await say({ model: 'echo' })).toBe('What is the capital of France?');
    expect(await say({ model: 'empty' })).toBe('');
    expect(await say({ model: 'answers', params: { answers: { 'case-1': 'Rome' } } })).toBe('Rome');
    expect(await say({ model: 'answers', params: { answers: {}, wrongText: 'none' } })).toBe('none');
    const inherited = { model: 'answers', params: { answers: {} }, cell: { caseId: 'constructor' } };
    expect(await say(inherited)).toBe('');
  });

  test('flaky is right as often as its accuracy says, and the same way each time', async () => {
    const sayAll = () =>
      Promise.all(
        Array.from({ length: 1000 }, (_, index) =>
          say(
            { model: 'flaky', params: { accuracy: 0.7, wrongText: 'no' }, cell: { caseId: `case-${index}` } },
            { values: ['yes'] },
          ),
        ),
      );
    const first = await sayAll();
    expect(first.filter((text) => text === 'yes').length / 1000).toBeCloseTo(0.7, 1);
    expect(await sayAll()).toEqual(first);
  });

  test('draws depend on seed, model, case and attempt, not on the run', async () => {
    const drawAll = (part: RequestPart, seed = 0) =>
      Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          say(
            { model: 'flaky', params: { accuracy: 0.5, seed }, cell: { caseId: `c${index}`, ...part.cell } },
            {
              values: ['yes'],
            },
          ),
        ),
      );
    const plain = await drawAll({});
    expect(await drawAll({ cell: { runId: 'other', requestName: 'other' } })).toEqual(plain);
    expect(await drawAll({ cell: { attempt: 2 } })).not.toEqual(plain);
    expect(await drawAll({ cell: { modelId: 'other' } })).not.toEqual(plain);
    expect(await drawAll({}, 1)).not.toEqual(plain);
  });
});

describe('script', () => {
  const good = [
    { say: 'I look.', reasoning: 'hm', tools: [{ name: 'bash', arguments: { command: 'ls' } }] },
    { say: 'Two files.', usage: { inputTokens: 5, outputTokens: 6 } },
  ];
  const script: JsonObject = { cases: { 'case-1': { good, bad: [{ say: 'No idea.' }] } } };
  const answered: Message = { role: 'assistant', text: 'I look.', reasoning: null, toolCalls: [] };

  test('the answers given so far pick the step, and past the end the answer is empty', async () => {
    const params = { script, skill: 1 };
    const first = await ask({ model: 'script', params });
    expect(first).toMatchObject({
      finishReason: 'tool_calls',
      message: {
        text: 'I look.',
        reasoning: 'hm',
        toolCalls: [
          { id: 'c00001001', name: 'bash', arguments: { kind: 'parsed', value: { command: 'ls' } } },
        ],
      },
    });
    const second = await ask({ model: 'script', params, messages: [answered], cell: { step: 2 } });
    expect(second).toMatchObject({ finishReason: 'stop', message: { text: 'Two files.', toolCalls: [] } });
    expect(second.usage).toMatchObject({ inputTokens: 5, outputTokens: 6 });
    const third = await ask({ model: 'script', params, messages: [answered, answered] });
    expect(third).toMatchObject({ finishReason: 'stop', message: { text: '', toolCalls: [] } });
  });

  test('skill picks the branch, the same one for every step of an attempt', async () => {
    expect(await say({ model: 'script', params: { script, skill: 0 } })).toBe('No idea.');
    const texts = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        say({ model: 'script', params: { script, skill: 0.8 }, cell: { attempt: index + 1 } }),
      ),
    );
    expect(texts.filter((text) => text === 'I look.').length / 500).toBeCloseTo(0.8, 1);
  });

  test('a case without a script of its own follows the default', async () => {
    const params = { script: { cases: {}, default: { good: [{ say: 'any' }], bad: [] } } };
    expect(await say({ model: 'script', params })).toBe('any');
  });

  test('the fault of a step meets as many requests of its call as it says', async () => {
    const steps = [{ say: 'fine', fault: { status: 503 }, times: 2 }];
    const part = { model: 'script', params: { script: { cases: {}, default: { good: steps, bad: steps } } } };
    for (const requestNumber of [1, 2]) {
      const error = await failCall(toMock(), { ...part, cell: { requestNumber } });
      expect(error.classified).toMatchObject({ class: 'server', status: 503 });
    }
    expect(await say({ ...part, cell: { requestNumber: 3 } })).toBe('fine');
  });
});

describe('faults', () => {
  test.each([
    [
      { status: 401, text: 'bad key' },
      { class: 'credential', retryable: false, message: 'HTTP 401: bad key' },
    ],
    [
      { status: 429, retryAfterMs: 1500 },
      { class: 'throttled', retryAfterMs: 1500 },
    ],
    [
      { status: 429, code: 'insufficient_quota' },
      { class: 'billing', retryable: false },
    ],
    [{ code: 'ENOENT' }, { class: 'unknown', retryable: false }],
    [{ kind: 'connection' }, { class: 'connection', retryable: true }],
    [{ kind: 'time_out' }, { class: 'time_out', retryable: true }],
    [{ kind: 'html' }, { class: 'bad_answer', retryable: false }],
    [
      { kind: 'html', status: 503 },
      { class: 'server', status: 503 },
    ],
    [{ kind: 'empty_choices' }, { class: 'bad_answer', retryable: true }],
    [{ kind: 'no_evidence' }, { class: 'no_evidence', retryable: false }],
  ])('%j is the error of a real provider', async (fault, expected) => {
    const error = await failCall(toMock(), { model: 'fixed', params: { text: 'x', faults: [{ fault }] } });
    expect(error.classified).toMatchObject(expected);
  });

  test('a fault meets its case, attempt, step and requests only', async () => {
    const faults = [{ case: 'case-1', attempt: 2, step: 3, times: 1, fault: { status: 500 } }];
    const part = { model: 'fixed', params: { text: 'x', faults } };
    const hit = { caseId: 'case-1', attempt: 2, step: 3, requestNumber: 1 };
    expect((await failCall(toMock(), { ...part, cell: hit })).classified.status).toBe(500);
    for (const miss of [{ caseId: 'case-2' }, { attempt: 1 }, { step: 1 }, { requestNumber: 2 }]) {
      expect(await say({ ...part, cell: { ...hit, ...miss } })).toBe('x');
    }
  });
});

describe('usage and latency', () => {
  test('usage is a quarter of the characters unless it is stated', async () => {
    const answer = await ask({ model: 'fixed', params: { text: '12345678' } });
    expect(answer.usage).toMatchObject({ inputTokens: 8, outputTokens: 2 });
    const stated = { text: 'x', usage: { inputTokens: 3, outputTokens: 4 } };
    expect((await ask({ model: 'fixed', params: stated })).usage).toMatchObject({
      inputTokens: 3,
      outputTokens: 4,
    });
  });

  test('the cap on output cuts the text', async () => {
    const answer = await ask({ model: 'fixed', params: { text: '12345678abc' }, maxOutputTokens: 2 });
    expect(answer).toMatchObject({ finishReason: 'length', message: { text: '12345678' } });
    expect(answer.usage.outputTokens).toBe(2);
  });

  test('latency is waited for, and ends with the signal', async () => {
    const startedAt = performance.now();
    await ask({ model: 'empty', params: { latencyMs: [30, 40] } });
    expect(performance.now() - startedAt).toBeGreaterThan(25);
    const controller = new AbortController();
    const call = toMock().call(
      toRequest({ model: 'empty', params: { latencyMs: 60_000 } }),
      controller.signal,
    );
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});
