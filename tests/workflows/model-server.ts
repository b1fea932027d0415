import { startHttpServer, type Reply } from '../providers/http-server.ts';
import { sendJson, toCompletion } from '../providers/http-server.ts';

export { sendEvents, sendJson, toCompletion } from '../providers/http-server.ts';

/** A real endpoint that speaks OpenAI's chat completions; the health check is answered here, `requests` holds calls. */
export async function startModelServer(reply: Reply) {
  let number = 0;
  const server = await startHttpServer(async (response, seen) => {
    if (seen.method === 'GET') return sendJson(response, { data: [] });
    number += 1;
    await reply(response, seen, number);
  });
  return {
    baseUrl: server.baseUrl,
    port: server.port,
    /** Model calls, in order. */
    calls: () => server.requests.filter((one) => one.method === 'POST'),
    provider: (more: object = {}) => ({
      id: 'local',
      kind: 'openai-compatible',
      baseUrl: server.baseUrl,
      ...more,
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The text of the last message of a request. */
export function readQuestion(seen: { readonly body: { readonly [name: string]: unknown } }): string {
  const messages = seen.body['messages'] as readonly { readonly content: string }[];
  return messages.at(-1)?.content ?? '';
}

/** Answers a sum of `sums()` rightly, with usage that a test can count: 100 tokens in, 50 out. */
export function answerSum(seen: { readonly body: { readonly [name: string]: unknown } }, rest: object = {}) {
  const number = Number(/What is (\d+)/.exec(readQuestion(seen))?.[1] ?? Number.NaN);
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
  return toCompletion({ content: String(number + 1) }, { usage, ...rest });
}
