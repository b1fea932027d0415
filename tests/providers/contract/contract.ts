import { describe, expect, test } from 'vitest';
import type { ModelProvider } from '../../../src/providers/provider.ts';
import { ProviderError } from '../../../src/providers/provider-error.ts';
import { failCall, NEVER, toRequest } from '../requests.ts';
import type { RequestPart } from '../requests.ts';

/** What a provider must be able to do; each scene is set up so that its model does what the name says. */
export type ProviderScenes = {
  readonly says: (text: string) => Promise<Scene>;
  readonly callsTool: (tool: { name: string; arguments: string }) => Promise<Scene>;
  readonly fails: (status: number, text: string) => Promise<Scene>;
  readonly hangs: () => Promise<Scene>;
};

export type Scene = AsyncDisposable & { readonly provider: ModelProvider; readonly request: RequestPart };

const TOOL = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };

/** The one suite that every kind of provider passes. */
export function testProviderContract(kind: string, scenes: ProviderScenes): void {
  describe(`contract of ${kind}`, () => {
    test('answers with text, a finish reason and usage', async () => {
      await using scene = await scenes.says('Paris');
      const answer = await scene.provider.call(toRequest(scene.request), NEVER);
      expect(answer.message).toEqual({ role: 'assistant', text: 'Paris', reasoning: null, toolCalls: [] });
      expect(answer.finishReason).toBe('stop');
      expect(answer.usage.inputTokens).toBeGreaterThan(0);
      expect(answer.usage.outputTokens).toBeGreaterThan(0);
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    });

    test('gives tool calls with read arguments and ids that are unique in the answer', async () => {
      await using scene = await scenes.callsTool({ name: 'look', arguments: '{"where":"here"}' });
      const answer = await scene.provider.call(toRequest({ ...scene.request, tools: [TOOL] }), NEVER);
      expect(answer.finishReason).toBe('tool_calls');
      const [call] = answer.message.toolCalls;
      expect(call).toMatchObject({ name: 'look', arguments: { kind: 'parsed', value: { where: 'here' } } });
      expect(call?.id).not.toBe('');
    });

    test('F19 keeps arguments that are not JSON as the text that came', async () => {
      await using scene = await scenes.callsTool({ name: 'look', arguments: '{"where": "he' });
      const answer = await scene.provider.call(toRequest({ ...scene.request, tools: [TOOL] }), NEVER);
      expect(answer.message.toolCalls[0]?.arguments).toEqual({ kind: 'unreadable', text: '{"where": "he' });
    });

    test('throws a ProviderError that knows its class', async () => {
      await using scene = await scenes.fails(429, 'busy');
      const error = await failCall(scene.provider, scene.request);
      expect(error).toBeInstanceOf(ProviderError);
      expect(error.classified).toMatchObject({ class: 'throttled', retryable: true, status: 429 });
      expect(error.message).toBe('HTTP 429: busy');
      expect(error.usage).toBeNull();
    });

    test('rejects with the reason of the signal, before and during a call', async () => {
      await using scene = await scenes.hangs();
      const reason = new Error('stopped by a person');
      const aborted = AbortSignal.abort(reason);
      await expect(scene.provider.call(toRequest(scene.request), aborted)).rejects.toBe(reason);
      const controller = new AbortController();
      const call = scene.provider.call(toRequest(scene.request), controller.signal);
      setTimeout(() => controller.abort(reason), 20);
      await expect(call).rejects.toBe(reason);
    });

    test('C16 ends a call at its total time-out and names it', async () => {
      await using scene = await scenes.hangs();
      const error = await failCall(scene.provider, { ...scene.request, timeouts: { totalMs: 60 } });
      expect(error.classified).toMatchObject({ class: 'time_out', retryable: true });
      expect(error.message).toMatch(/timer "total", limit 60 ms, measured \d+ ms, phase run/);
    });

    test('refuses parameters that it cannot send, without a retry', async () => {
      await using scene = await scenes.says('Paris');
      const error = await failCall(scene.provider, { ...scene.request, params: { temprature: 1 } });
      expect(error.classified).toMatchObject({ class: 'bad_request', retryable: false });
      expect(error.message).toContain('temprature');
    });

    test('is healthy', async () => {
      await using scene = await scenes.says('Paris');
      expect(await scene.provider.checkHealth(NEVER)).toBeNull();
    });
  });
}
