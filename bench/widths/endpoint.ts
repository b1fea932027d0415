import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawFrom } from '../../src/domain/stable-hash.ts';
import { RATE_LIMIT, TOKENS, WORKS } from './works.ts';

/**
 * A simulated OpenAI chat endpoint with a rate limit, a process of its own. Each first part of the path (`/run-7/v1`)
 * is a provider of its own, with its own bucket: what one run used up does not slow the next one. Prints its port;
 * `GET /run-7/count` answers what that one was asked.
 */
type Bucket = { tokens: number; atMs: number; asked: number; throttled: number };
type Asked = { readonly model: string; readonly messages: readonly { readonly role: string }[] };

const buckets = new Map<string, Bucket>();

const server = createServer((request, response) => void serve(request, response));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : '');
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const bucket = openBucket(request.url?.split('/')[1] ?? '');
  if (request.url?.endsWith('/count'))
    return send(response, 200, { asked: bucket.asked, throttled: bucket.throttled });
  if (request.method === 'GET') return send(response, 200, { data: [] });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
  bucket.asked += 1;
  if (!take(bucket)) {
    bucket.throttled += 1;
    response.setHeader('retry-after', String(RATE_LIMIT.retryAfterSeconds));
    return send(response, 429, { error: { type: 'rate_limit_error', message: 'Too many requests.' } });
  }
  const [low, high] = WORKS.find(({ name }) => name === asked.model)?.latencyMs ?? [0, 0];
  await sleep(low + (high - low) * drawFrom(`latency/${bucket.asked}`, 1));
  send(response, 200, toAnswer(asked));
}

function openBucket(name: string): Bucket {
  const found = buckets.get(name) ?? { tokens: RATE_LIMIT.burst, atMs: Date.now(), asked: 0, throttled: 0 };
  buckets.set(name, found);
  return found;
}

function take(bucket: Bucket): boolean {
  const nowMs = Date.now();
  const filled = ((nowMs - bucket.atMs) / 1_000) * RATE_LIMIT.requestsPerSecond;
  bucket.tokens = Math.min(RATE_LIMIT.burst, bucket.tokens + filled);
  bucket.atMs = nowMs;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

/** A light case is answered at once; a tool-heavy one writes a file, reads it and submits. */
function toAnswer({ model, messages }: Asked) {
  const step = messages.filter(({ role }) => role === 'assistant').length + 1;
  const command = step === 1 ? 'echo 42 > answer' : 'cat answer';
  const called =
    step < 3
      ? { name: 'bash', arguments: JSON.stringify({ command }) }
      : { name: 'submit', arguments: '{"answer":"42"}' };
  const choice =
    model === 'tool-heavy'
      ? {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: `call${step}`, type: 'function', function: called }],
          },
        }
      : { finish_reason: 'stop', message: { role: 'assistant', content: '42' } };
  return {
    id: 'answer',
    model,
    choices: [{ index: 0, ...choice }],
    usage: {
      prompt_tokens: TOKENS.input,
      completion_tokens: TOKENS.output,
      total_tokens: TOKENS.input + TOKENS.output,
    },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}
