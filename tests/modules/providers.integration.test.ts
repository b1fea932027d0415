import { expect, test, vi } from 'vitest';
import { createModuleProviders } from '../../src/modules/module-provider.ts';
import { createProviderLookup } from '../../src/providers/lookup.ts';
import { toRequest, toSpec } from '../providers/requests.ts';
import { openModule } from './pool.ts';
import { findModuleProblems } from './project.ts';

vi.setConfig({ testTimeout: 60_000 });

const NEVER = new AbortController().signal;

/** A module's kind `house` as the worker builds it; the model's name says how it behaves. */
async function openProvider(call: string) {
  const { pool, module } = await openModule(
    `export const house = defineProvider({ kind: 'house', baseUrl: 'http://127.0.0.1:9/v1', params: z.strictObject({ depth: z.int().optional() }),
      checkHealth: async ({ apiKey }) => apiKey === null ? 'it has no key' : null,
      call: async (request, { apiKey, baseUrl, signal }) => { ${call} } });`,
  );
  const lookup = createProviderLookup(createModuleProviders(pool, module));
  const provider = lookup.createProvider(toSpec({ kind: 'house' }), { apiKey: 'key-of-mine' });
  return {
    provider,
    ask: (model: string, signal = NEVER, totalMs = 30_000) => {
      const request = toRequest({ model });
      return provider.call({ ...request, timeouts: { ...request.timeouts, totalMs } }, signal);
    },
  };
}

test('calls of a provider of a run file run side by side in one process, with the key that it names', async () => {
  const { provider, ask } = await openProvider(`
    await new Promise((go) => setTimeout(go, request.model === 'slow' ? 400 : 0));
    return { text: [request.model, apiKey, baseUrl, process.pid].join(' '), usage: { inputTokens: 3 } };`);
  const [slow, quick] = await Promise.all([ask('slow'), ask('quick')]);
  expect(slow.message.text).toMatch(/^slow key-of-mine http:\/\/127\.0\.0\.1:9\/v1 \d+$/);
  expect(quick.message.text.split(' ').at(-1)).toBe(slow.message.text.split(' ').at(-1));
  expect(slow.usage).toMatchObject({ inputTokens: 3, outputTokens: null });
  expect(await provider.checkHealth(NEVER)).toBe(null);
});

test('what a provider of a run file throws is classified, and its crash is a connection that broke', async () => {
  const { ask } = await openProvider(`
    if (request.model === 'busy') throw Object.assign(new Error('slow down'), { status: 429, headers: new Headers({ 'retry-after': '7' }) });
    if (request.model === 'key') throw Object.assign(new Error('no such key'), { status: 401 });
    if (request.model === 'down') throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
    if (request.model === 'exit') process.exit(1);
    return { text: 'fine' };`);
  const fail = async (model: string) => await ask(model).catch((error: unknown) => error);
  expect(await fail('busy')).toMatchObject({ classified: { class: 'throttled', retryAfterMs: 7_000 } });
  expect(await fail('key')).toMatchObject({ classified: { class: 'credential', retryable: false } });
  expect(await fail('down')).toMatchObject({ classified: { class: 'connection', retryable: true } });
  expect(await fail('exit')).toMatchObject({ classified: { class: 'connection', retryable: true } });
  expect((await ask('fine')).message.text).toBe('fine');
});

test('a call that hears its cancel leaves the process to the others; one that does not ends it', async () => {
  const { ask } = await openProvider(`
    if (request.model === 'hears') await new Promise((_go, stop) => signal.addEventListener('abort', () => stop(signal.reason)));
    if (request.model === 'deaf') for (;;);
    return { text: String(process.pid) };`);
  const before = (await ask('fine')).message.text;
  const stop = new AbortController();
  const heard = ask('hears', stop.signal);
  setTimeout(() => stop.abort(new Error('cancelled by hand')), 100);
  await expect(heard).rejects.toThrow('cancelled by hand');
  expect((await ask('fine')).message.text).toBe(before);
  await expect(ask('deaf', NEVER, 300)).rejects.toMatchObject({ classified: { class: 'time_out' } });
  await vi.waitFor(async () => expect((await ask('fine')).message.text).not.toBe(before), {
    timeout: 10_000,
  });
});

test('a kind of provider stands in the run file, and its parameters are checked there', async () => {
  const file = (parts: string) => `import { defineProvider, defineRun, z } from 'assay';
    const house = defineProvider({ kind: 'house', params: z.strictObject({ depth: z.int() }), call: async () => ({ text: '1' }) });
    export default defineRun({
      providers: [{ id: 'mine', kind: house }],
      models: [{ id: 'm', provider: 'mine', model: 'any', params: ${parts} }],
      suite: { scorers: ['exact'], cases: [{ id: 'one', input: 'Say 1.', target: '1' }] } });`;
  expect(await findModuleProblems({ 'run.ts': file('{ depth: 2 }') })).toEqual([]);
  expect((await findModuleProblems({ 'run.ts': file('{ dept: 2 }') })).join('\n')).toMatch(
    /models\[0\]\.params\.dept: unknown parameter "dept"; possible: depth/,
  );
});
