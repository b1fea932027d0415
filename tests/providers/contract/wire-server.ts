import type { ServerResponse } from 'node:http';
import { createProvider } from '../../../src/providers/lookup.ts';
import type { ModelProvider } from '../../../src/providers/provider.ts';
import { sendJson, startHttpServer } from '../http-server.ts';
import type { Reply, SeenRequest } from '../http-server.ts';
import { toSpec } from '../requests.ts';
import type { RequestPart } from '../requests.ts';
import type { Said, WireEvent, WireForm } from './wire-form.ts';

export const KEY = 'key-for-tests-0123456789';

export type WireScene = AsyncDisposable & {
  readonly provider: ModelProvider;
  readonly request: RequestPart;
  readonly requests: readonly SeenRequest[];
};

export type Way = 'whole' | 'streamed';

/** A server that speaks one API, and a provider that is pointed at it. Health checks are answered. */
export async function serveWire(form: WireForm, way: Way, reply: Reply): Promise<WireScene> {
  const server = await startHttpServer((response, seen, number) =>
    seen.method === 'GET' ? sendJson(response, { data: [], models: [] }) : reply(response, seen, number),
  );
  const provider = createProvider(
    toSpec({ kind: form.kind, baseUrl: server.baseUrl, apiKeyEnv: 'SOME_KEY' }),
    {
      apiKey: KEY,
    },
  );
  return {
    provider,
    requests: server.requests,
    request: { stream: way === 'streamed', model: form.model, params: form.params },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export function speak(form: WireForm, way: Way, said: Said): Reply {
  return (response) => {
    if (way === 'whole') return sendJson(response, form.toAnswer(said));
    sendWireEvents(response, form.toEvents(said));
    response.end();
  };
}

export function sendWireEvents(response: ServerResponse, events: readonly WireEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const { event, data } of events) {
    const name = event === undefined ? '' : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
}
