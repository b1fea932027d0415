import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineProvider } from '../../src/providers/define-provider.ts';
import type { PlugInAnswer, ProviderDefinition } from '../../src/providers/define-provider.ts';
import { createProviderLookup } from '../../src/providers/lookup.ts';
import { testProviderContract } from './contract/contract.ts';
import type { Scene } from './contract/contract.ts';
import { failCall, NEVER, toRequest, toSpec } from './requests.ts';

const create = (call: ProviderDefinition['call']) => {
  const definition = defineProvider({
    kind: 'house',
    params: z.strictObject({ temperature: z.number().optional() }),
    call,
  });
  const lookup = createProviderLookup([definition]);
  return lookup.createProvider(toSpec({ kind: 'house' }), { apiKey: 'key-of-the-house' });
};

const toScene = (call: ProviderDefinition['call']): Scene => ({
  provider: create(call),
  request: {},
  async [Symbol.asyncDispose]() {},
});

const usage = { inputTokens: 3, outputTokens: 2 };

testProviderContract('a plug-in', {
  says: async (text) => toScene(async () => ({ text, usage })),
  callsTool: async (tool) => toScene(async () => ({ toolCalls: [tool] })),
  fails: async (status, text) =>
    toScene(async () => {
      const error = new Error(`HTTP ${status}: ${text}`);
      throw Object.assign(error, { status });
    }),
  hangs: async () => toScene(() => new Promise<PlugInAnswer>(() => {})),
});

describe('a plug-in provider', () => {
  test('what an answer leaves out is empty or unknown', async () => {
    const answer = await create(async () => ({ text: 'Paris' })).call(toRequest(), NEVER);
    expect(answer).toMatchObject({
      message: { text: 'Paris', reasoning: null, toolCalls: [] },
      finishReason: 'stop',
      usage: { inputTokens: null, outputTokens: null, cacheReadTokens: null },
      reportedCostUsd: null,
    });
  });

  test('gets the key and the address, and headers of its errors are read', async () => {
    const seen: unknown[] = [];
    const provider = create(async (_request, { apiKey, baseUrl }) => {
      seen.push(apiKey, baseUrl);
      throw Object.assign(new Error(`slow down, ${apiKey}`), {
        status: 429,
        headers: { 'Retry-After': '3' },
      });
    });
    const error = await failCall(provider);
    expect(seen).toEqual(['key-of-the-house', null]);
    expect(error.classified).toMatchObject({ class: 'throttled', retryAfterMs: 3_000 });
    expect(error.message).toBe('slow down, [key]');
  });

  test('an answer of the wrong form is its own fault, named by field, and not asked again', async () => {
    const wrong = { text: 7, usage: { inputTokens: -1 }, toolcalls: [] } as unknown as PlugInAnswer;
    const error = await failCall(create(async () => wrong));
    expect(error.classified).toMatchObject({ class: 'bad_answer', retryable: false });
    expect(error.message).toMatch(
      /provider kind "house" gave no proper answer: .*text: .*usage\.inputTokens/,
    );
    expect(error.message).toContain('toolcalls');
  });

  test('its parameters are checked before anything is sent', () => {
    const { findParamProblems } = createProviderLookup([
      defineProvider({ kind: 'house', params: z.strictObject({ depth: z.int() }), call: async () => ({}) }),
    ]);
    expect(findParamProblems({ kind: 'house', model: 'm', params: { depth: 1 } })).toEqual([]);
    expect(findParamProblems({ kind: 'house', model: 'm', params: { deep: 1 } })).toEqual([
      { path: ['params', 'depth'], message: expect.stringContaining('expected number') },
      { path: ['params', 'deep'], message: 'unknown parameter "deep"; possible: depth' },
    ]);
  });
});

describe('defineProvider', () => {
  test('every wrong field is named at once', () => {
    const wrong = {
      kind: 'My House',
      baseUrl: 'nowhere',
      call: 'x',
      calls: 1,
    } as unknown as ProviderDefinition;
    expect(() => defineProvider(wrong)).toThrow(
      /^defineProvider: kind: expected lower case letters.*; baseUrl: expected an http or https address; call: expected a function; .*calls/,
    );
  });

  test('a kind that exists cannot be taken', () => {
    const twice = defineProvider({ kind: 'openai', call: async () => ({}) });
    expect(() => createProviderLookup([twice])).toThrow('two providers have the kind "openai"; rename one');
  });

  test('an unknown kind names the known ones', () => {
    expect(() => createProviderLookup().createProvider(toSpec({ kind: 'house' }), { apiKey: null })).toThrow(
      'unknown provider kind "house"; known: openai, anthropic, google, openai-compatible, mock',
    );
  });
});
