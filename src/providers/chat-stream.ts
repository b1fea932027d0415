import { readContent } from './chat-answer.ts';
import { isFields } from './chat-usage.ts';
import type { Fields } from './chat-usage.ts';
import type { BodyReader } from './exchange.ts';
import { createFault } from './provider-error.ts';

type OpenToolCall = { id: string | null; index: number | null; name: string; arguments: string };

/**
 * Folds the events of a streamed chat completion into the body that the same answer has without
 * streaming, as they come; so that only one reader of answers exists and memory holds the answer alone.
 */
export class ChatStream implements BodyReader {
  readonly #decoder = new TextDecoder();
  readonly #calls: OpenToolCall[] = [];
  readonly #ignored: Fields[] = [];
  #pending = '';
  #data: string[] = [];
  #done = false;
  #events = 0;
  #id: string | null = null;
  #text = '';
  #reasoning = '';
  #refusal = '';
  #finish: string | null = null;
  #choiceError: unknown;
  #bodyError: unknown;
  #usage: Fields | null = null;
  #hasChoice = false;

  push(chunk: Buffer): boolean {
    this.#pending += this.#decoder.decode(chunk, { stream: true });
    const lines = this.#pending.split(/\r\n|\n|\r(?!$)/);
    this.#pending = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
    return this.#done;
  }

  /** Whether the model's part is complete: its end was announced, whatever became of the connection. */
  get isFinished(): boolean {
    return this.#done || this.#finish !== null;
  }

  /** Text of the folded body. Throws a `CallFault` of class `connection` when the stream stopped early. */
  end(): string {
    this.#readLine(this.#pending);
    this.#readLine('');
    this.#pending = '';
    if (!this.isFinished && this.#bodyError === undefined && this.#choiceError === undefined) {
      throw toCutFault(this.#events);
    }
    return JSON.stringify(this.#toBody());
  }

  #readLine(line: string): void {
    if (line.startsWith('data:')) this.#data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line === '') this.#dispatch();
  }

  #dispatch(): void {
    const data = this.#data.join('\n').trim();
    this.#data = [];
    if (data === '') return;
    if (data === '[DONE]') {
      this.#done = true;
      return;
    }
    this.#events += 1;
    this.#fold(parseEvent(data, this.#events));
  }

  #fold(event: Fields): void {
    if (typeof event['id'] === 'string' && event['id'] !== '') this.#id ??= event['id'];
    if (isFields(event['usage'])) this.#usage = event['usage'];
    if (event['error'] !== undefined && event['error'] !== null) {
      this.#bodyError = event['error'];
      this.#done = true;
    }
    const choices = Array.isArray(event['choices']) ? event['choices'] : [];
    for (const choice of choices.filter(isFields)) {
      if (choice['index'] === undefined || choice['index'] === null || choice['index'] === 0)
        this.#foldChoice(choice);
    }
  }

  #foldChoice(choice: Fields): void {
    this.#hasChoice = true;
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    if (isFields(choice['error'])) this.#choiceError = choice['error'];
    const delta = isFields(choice['delta']) ? choice['delta'] : {};
    const parts = readContent(delta['content']);
    const thought = delta['reasoning_content'] ?? delta['reasoning'];
    this.#text += parts.text;
    this.#reasoning += (typeof thought === 'string' ? thought : '') + parts.reasoning;
    if (typeof delta['refusal'] === 'string') this.#refusal += delta['refusal'];
    for (const type of parts.ignored) this.#ignored.push({ type });
    const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    for (const call of calls.filter(isFields)) this.#foldToolCall(call);
  }

  #foldToolCall(delta: Fields): void {
    const inner = isFields(delta['function']) ? delta['function'] : {};
    const id = typeof delta['id'] === 'string' && delta['id'] !== '' ? delta['id'] : null;
    const index = typeof delta['index'] === 'number' ? delta['index'] : null;
    const name = typeof inner['name'] === 'string' ? inner['name'] : null;
    const given = inner['arguments'];
    const text = typeof given === 'string' ? given : isFields(given) ? JSON.stringify(given) : '';
    const open = this.#findCall({ id, index, name });
    if (open === undefined) {
      this.#calls.push({ id, index, name: name ?? '', arguments: text });
      return;
    }
    open.id ??= id;
    if (open.name === '' && name !== null) open.name = name;
    open.arguments += text;
  }

  /** The call that a delta continues: by index, else by id; without both, a nameless one goes to the last. */
  #findCall(delta: {
    id: string | null;
    index: number | null;
    name: string | null;
  }): OpenToolCall | undefined {
    if (delta.index !== null) {
      const at = this.#calls.findLast((call) => call.index === delta.index);
      // Some servers number every call 0: another id under the same index is another call.
      const other =
        at !== undefined && at.id !== null && delta.id !== null && at.id !== delta.id && delta.name;
      return other ? undefined : at;
    }
    if (delta.id !== null) return this.#calls.find((call) => call.id === delta.id);
    return delta.name === null || delta.name === '' ? this.#calls.at(-1) : undefined;
  }

  #toBody(): Fields {
    const message = {
      content: [{ type: 'text', text: this.#text }, ...this.#ignored],
      refusal: this.#refusal,
      reasoning_content: this.#reasoning,
      tool_calls: this.#calls.map((call) => ({
        id: call.id,
        function: { name: call.name, arguments: call.arguments },
      })),
    };
    const choice = { message, finish_reason: this.#finish, error: this.#choiceError };
    return {
      id: this.#id,
      usage: this.#usage,
      error: this.#bodyError,
      choices: this.#hasChoice ? [choice] : [],
    };
  }
}

function parseEvent(data: string, number: number): Fields {
  try {
    const event: unknown = JSON.parse(data);
    if (isFields(event)) return event;
  } catch {
    // Falls through to the fault below: what matters is which event it was.
  }
  const message = `malformed JSON in event ${number} of the stream: ${data.slice(0, 200)}`;
  throw createFault({ class: 'bad_answer', retryable: true, message });
}

const toCutFault = (events: number): Error =>
  createFault({
    class: 'connection',
    retryable: true,
    message: `the stream stopped after ${events} events, before its end was announced`,
  });
