import { describe, expect, test } from 'vitest';
import { checkParams, createProvider, PROVIDER_KINDS, toEngineId } from '../../src/providers/lookup.ts';
import { toSpec } from './requests.ts';

describe('checkParams', () => {
  test('sound parameters have no problem', () => {
    expect(
      checkParams({
        kind: 'openai-compatible',
        params: { temperature: 0, extraBody: { top_k: 3 } },
        model: 'm',
      }),
    ).toEqual([]);
    expect(
      checkParams({ kind: 'mock', params: { accuracy: 0.9, latencyMs: [1, 2] }, model: 'flaky' }),
    ).toEqual([]);
  });

  test('F15 AC-P8 a parameter that cannot be sent is named', () => {
    expect(checkParams({ kind: 'openai-compatible', params: { temprature: 0 }, model: 'm' })).toEqual([
      expect.stringMatching(/params.*temprature/),
    ]);
    expect(
      checkParams({
        kind: 'openai-compatible',
        params: { temperature: 'hot', maxOutputTokens: 0 },
        model: 'm',
      }),
    ).toEqual([
      expect.stringMatching(/^params\.temperature: /),
      expect.stringMatching(/^params\.maxOutputTokens: /),
    ]);
  });

  test('fields that would pass by a cap cannot be set in the extra body', () => {
    expect(
      checkParams({ kind: 'openai-compatible', params: { extraBody: { n: 5, max_tokens: 9 } }, model: 'm' }),
    ).toEqual([
      'params.extraBody.n: cannot be set here: set `attempts.k` of the request',
      'params.extraBody.max_tokens: cannot be set here: set maxOutputTokens',
    ]);
  });

  test('an unknown mock model and a missing parameter of a mode are named', () => {
    expect(checkParams({ kind: 'mock', params: {}, model: 'oracel' })).toEqual([
      'model: unknown mock model "oracel", expected one of oracle, fixed, echo, empty, flaky, answers, script',
    ]);
    expect(checkParams({ kind: 'mock', params: {}, model: 'oracle' })).toEqual([]);
    expect(checkParams({ kind: 'mock', params: {}, model: 'script' })).toEqual([
      'params.script: mock model "script" needs params.script',
    ]);
    expect(checkParams({ kind: 'mock', params: { accuracy: 2 }, model: 'flaky' })).toEqual([
      expect.stringMatching(/^params\.accuracy: /),
    ]);
  });
});

describe('toEngineId', () => {
  const spec = toSpec({ baseUrl: 'https://API.Example.com:8443/v1', apiKeyEnv: 'SOME_KEY' });

  test('is readable, short and fit for a task queue', () => {
    const id = toEngineId(spec);
    expect(id).toMatch(/^openai-compatible-api-example-com-8443-[0-9a-f]{10}$/);
    const long = toEngineId({ ...spec, baseUrl: `http://${'long.'.repeat(40)}example/v1` });
    expect(long).toMatch(/^[a-z0-9-]{1,60}$/);
    expect(toEngineId(toSpec({ kind: 'mock' }))).toMatch(/^mock-[0-9a-f]{10}$/);
  });

  test('is equal for one engine and differs by kind, address and key name', () => {
    expect(toEngineId({ ...spec, baseUrl: `${spec.baseUrl}/` })).toBe(toEngineId(spec));
    const others = [
      { ...spec, apiKeyEnv: 'OTHER_KEY' },
      { ...spec, apiKeyEnv: null },
      { ...spec, baseUrl: 'https://api.example.com:8443/v2' },
      { ...spec, kind: 'mock' as const },
    ];
    expect(new Set([spec, ...others].map(toEngineId)).size).toBe(5);
  });
});

describe('createProvider', () => {
  test('knows every kind, and a provider without an address is refused', () => {
    expect(PROVIDER_KINDS).toEqual(['openai', 'anthropic', 'google', 'openai-compatible', 'mock']);
    expect(() => createProvider(toSpec({ baseUrl: null }), { apiKey: null })).toThrow(
      'provider "local" needs a baseUrl',
    );
  });
});
