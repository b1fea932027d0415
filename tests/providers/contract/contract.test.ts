import { createProvider } from '../../../src/providers/lookup.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { sendJson } from '../http-server.ts';
import { toSpec } from '../requests.ts';
import { ANTHROPIC } from './anthropic-form.ts';
import { OPENAI_CHAT, OPENAI_COMPATIBLE } from './chat-form.ts';
import { testProviderContract } from './contract.ts';
import type { Scene } from './contract.ts';
import { GOOGLE } from './google-form.ts';
import { OPENAI_RESPONSES } from './responses-form.ts';
import { testWireContract } from './wire-contract.ts';
import { sendWireEvents, serveWire, speak } from './wire-server.ts';

for (const form of [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GOOGLE, OPENAI_COMPATIBLE]) {
  for (const way of ['whole', 'streamed'] as const) {
    testProviderContract(`${form.name}, ${way}`, {
      says: (text) => serveWire(form, way, speak(form, way, { text })),
      callsTool: (tool) => serveWire(form, way, speak(form, way, { tools: [tool] })),
      fails: (status, text) =>
        serveWire(form, way, (response) => sendJson(response, { error: { message: text } }, status)),
      hangs: () =>
        serveWire(form, way, (response) => {
          if (way === 'streamed') sendWireEvents(response, form.toEvents({ text: 'Paris' }).slice(0, 2));
        }),
    });
    testWireContract(form, way);
  }
}

const mock = async (model: string, params: JsonObject): Promise<Scene> => ({
  provider: createProvider(toSpec({ kind: 'mock' }), { apiKey: null }),
  request: { model, params },
  async [Symbol.asyncDispose]() {},
});

testProviderContract('mock', {
  says: (text) => mock('fixed', { text }),
  callsTool: (tool) => {
    const branch = [{ tools: [tool] }];
    return mock('script', { script: { cases: {}, default: { good: branch, bad: branch } } });
  },
  fails: (status, text) => mock('fixed', { text: 'x', faults: [{ fault: { status, text } }] }),
  hangs: () => mock('fixed', { text: 'x', faults: [{ fault: { kind: 'hang' } }] }),
});
