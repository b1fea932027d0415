import { createServer } from 'node:http';

/**
 * A simulated OpenAI chat endpoint, a process of its own. The model's name says how long it takes:
 * `slow` 300-3,000 ms, `fast` 5-20 ms, drawn from the prompt so that every runner gets equal latencies.
 * `agent` calls `bash` nine times and then `submit`. Prints its port, then counts requests: `GET /count`.
 */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  slow: [300, 3000],
  fast: [5, 20],
  agent: [5, 20],
};
let requests = 0;

type Asked = { readonly model: string; readonly messages: readonly { readonly role: string }[] };

const ANSWER = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '42' } };

function toToolCall(messages: Asked['messages']) {
  const step = messages.filter(({ role }) => role === 'assistant').length + 1;
  const called =
    step < 10
      ? { name: 'bash', arguments: '{"command":"true"}' }
      : { name: 'submit', arguments: '{"answer":"42"}' };
  const tool_calls = [{ id: `call${step}`, type: 'function', function: called }];
  return { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls } };
}

const draw = (text: string): number => {
  let hash = 2166136261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16777619);
  return (hash >>> 0) / 2 ** 32;
};

const server = createServer((request, response) => {
  if (request.url?.endsWith('/count')) return void response.end(String(requests));
  if (request.method === 'GET') return void response.end('{"data":[]}');
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    requests += 1;
    const text = Buffer.concat(chunks).toString();
    const { model, messages } = JSON.parse(text) as Asked;
    const [low, high] = RANGES[model] ?? [0, 0];
    setTimeout(
      () => {
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({
            id: `r${requests}`,
            model,
            choices: [model === 'agent' ? toToolCall(messages) : ANSWER],
            usage: { prompt_tokens: 20, completion_tokens: 1, total_tokens: 21 },
          }),
        );
      },
      low + (high - low) * draw(text),
    );
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : '');
});
