import type { ServerResponse } from 'node:http';
import type { RecordingProxy } from '../../src/activities/recording-proxy.ts';

type Body = { readonly [name: string]: unknown };

/** One wire form as a test needs it: what an agent sends, and what an endpoint answers. */
export type WireCase = {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly request: (more?: Body) => Body;
  /** 20 tokens in, 5 out. */
  readonly whole: Body;
  /** As the endpoint writes it, event by event. */
  readonly events: readonly string[];
};

const TEXT = 'The wire carries – this.';

const data = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;
const named = (body: { readonly type: string }): string => `event: ${body.type}\n${data(body)}`;

const chunk = (delta: Body, finish: string | null = null): string =>
  data({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

export const CHAT_COUNTS = data({
  id: 'c1',
  object: 'chat.completion.chunk',
  choices: [],
  usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
});

const chat: WireCase = {
  name: 'chat',
  kind: 'openai-compatible',
  path: '/v1/chat/completions',
  request: (more) => ({ model: 'tiny-1', messages: [{ role: 'user', content: 'Say it.' }], ...more }),
  whole: {
    id: 'c1',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: TEXT } }],
    usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
  },
  events: [
    chunk({ role: 'assistant', content: 'The wire ' }),
    chunk({ content: 'carries – this.' }),
    chunk({}, 'stop'),
    CHAT_COUNTS,
    'data: [DONE]\n\n',
  ],
};

const response = {
  id: 'r1',
  object: 'response',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'm1',
      role: 'assistant',
      content: [{ type: 'output_text', text: TEXT, annotations: [] }],
    },
  ],
  usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25 },
};

const responses: WireCase = {
  name: 'responses',
  kind: 'openai',
  path: '/v1/responses',
  request: (more) => ({ model: 'tiny-1', input: [{ role: 'user', content: 'Say it.' }], ...more }),
  whole: response,
  events: [
    named({ type: 'response.created' }),
    named({ type: 'response.output_text.delta', delta: TEXT } as { type: string }),
    named({ type: 'response.completed', response } as { type: string }),
  ],
};

const message = { id: 'm1', type: 'message', role: 'assistant', model: 'tiny-1' };

const messages: WireCase = {
  name: 'messages',
  kind: 'anthropic',
  path: '/v1/messages',
  request: (more) => ({
    model: 'tiny-1',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Say it.' }],
    ...more,
  }),
  whole: {
    ...message,
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 20, output_tokens: 5 },
  },
  events: (
    [
      {
        type: 'message_start',
        message: { ...message, content: [], usage: { input_tokens: 20, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ] as { type: string }[]
  ).map(named),
};

export const WIRES: readonly WireCase[] = [chat, responses, messages];

export const SAID = TEXT;

type Sent = {
  readonly token?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
};

/** Sends what an agent sends. */
export const post = (
  proxy: RecordingProxy,
  path: string,
  ...[body, { token = proxy.token, signal, headers } = {}]: [body: unknown, sent?: Sent]
): Promise<Response> =>
  fetch(`${proxy.baseUrls.anthropic}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

export function stream(response: ServerResponse, texts: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const text of texts) response.write(text);
}
