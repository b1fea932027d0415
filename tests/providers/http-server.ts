import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: { readonly [name: string]: unknown };
};

export type Reply = (response: ServerResponse, seen: SeenRequest, number: number) => void | Promise<void>;

/** A real HTTP server on loopback that keeps every request; replies are chosen by the request's number. */
export async function startHttpServer(reply: Reply) {
  const requests: SeenRequest[] = [];
  const server = createServer((message, response) => {
    void readBody(message).then(async (text) => {
      const seen = {
        method: message.method ?? '',
        path: message.url ?? '',
        headers: message.headers,
        text,
        body: text === '' ? {} : JSON.parse(text),
      };
      requests.push(seen);
      await reply(response, seen, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    port,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readBody(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function sendEvents(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
}

/** A chat completion whose message and usage are given. */
export const toCompletion = (message: object, rest: object = {}, finish = 'stop') => ({
  id: 'answer-1',
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', ...message } }],
  usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 },
  ...rest,
});
