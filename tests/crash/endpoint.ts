import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { drawFate, INPUT_TOKENS } from './fates.ts';

/**
 * A model API of its own process: `node endpoint.ts LOG MIN_MS MAX_MS`. Each request is in the log file before it is
 * answered, so that after any kill the log says how many requests each call got. Prints its port.
 */
const [logFile = '', minMs = '0', maxMs = '0'] = process.argv.slice(2);
const [shortest, longest] = [Number(minMs), Number(maxMs)];

type ChatRequest = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
};

let count = 0;

const server = createServer((request, response) => {
  if (request.method === 'POST') void answer(request, response);
  else response.setHeader('content-type', 'application/json').end('{"data":[]}');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
// The process that started this one is gone, however it ended.
process.stdin.on('end', () => process.exit()).resume();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const chat = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest;
  const prompt = chat.messages.map(({ content }) => String(content)).join('\n');
  const caseId = /\[(case-\d+)\]/.exec(prompt)?.[1] ?? '?';
  const observations = chat.messages.filter(({ role }) => role === 'tool').length;
  const call = `${chat.model}/${caseId}/${observations + 1}`;
  count += 1;
  const number = count;
  const log = (event: string, more: object = {}) =>
    appendFileSync(logFile, `${JSON.stringify({ number, call, event, atMs: Date.now(), ...more })}\n`);
  log('asked');
  const fate = drawFate(chat.model, number);
  // What the model has worked is billed, whoever hears of the answer.
  if (fate.billedTokens > 0) log('billed', { tokens: fate.billedTokens });
  response.on('finish', () => log('answered'));
  await sleep(shortest + Math.random() * (longest - shortest));
  if (fate.kind === 'cut') return void response.socket?.destroy();
  response.statusCode = fate.kind === 'busy' ? 503 : 200;
  const command = observations === 0 ? (/^RUN: (.*)$/m.exec(prompt)?.[1] ?? null) : null;
  response.setHeader('content-type', 'application/json').end(
    JSON.stringify({
      ...toChatAnswer(chat.model, caseId, command),
      ...(fate.kind === 'busy' ? { error: { message: 'try again' } } : {}),
      ...toUsage(fate.billedTokens),
    }),
  );
}

/** Of models that are billed; the others have used what `toChatAnswer` says. */
function toUsage(billedTokens: number): object {
  if (billedTokens === 0) return {};
  const output = billedTokens - INPUT_TOKENS;
  return { usage: { prompt_tokens: INPUT_TOKENS, completion_tokens: output, total_tokens: billedTokens } };
}

/** The id of the case; before that one call of `bash` when the prompt has a line `RUN: command`. */
function toChatAnswer(model: string, caseId: string, command: string | null): object {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: 'bash', arguments: JSON.stringify({ command }) },
  };
  const message =
    command === null
      ? { role: 'assistant', content: caseId }
      : { role: 'assistant', content: null, tool_calls: [call] };
  return {
    id: `answer-${count}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: command === null ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
  };
}
