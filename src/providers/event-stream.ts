import type { Fields } from './fields.ts';
import { isFields } from './fields.ts';
import type { BodyReader } from './exchange.ts';
import { createFault } from './provider-error.ts';

/** Folds a streamed answer, event by event, into the body that the same answer has without streaming. */
export interface StreamFolder {
  /** Takes one event. Returns true when the answer is complete, whatever still follows. */
  fold(event: Fields): boolean;
  /** Whether the model's part is complete, or an error came in its place. */
  readonly isFinished: boolean;
  toBody(): Fields;
}

/**
 * Reads server-sent events as they come, so that memory holds the answer alone and only one reader of
 * answers exists. The data of each event is JSON; `[DONE]` ends the stream.
 */
export class EventStream implements BodyReader {
  readonly #decoder = new TextDecoder();
  readonly #folder: StreamFolder;
  #pending = '';
  #data: string[] = [];
  #done = false;
  #events = 0;

  constructor(folder: StreamFolder) {
    this.#folder = folder;
  }

  push(chunk: Buffer): boolean {
    this.#pending += this.#decoder.decode(chunk, { stream: true });
    const lines = this.#pending.split(/\r\n|\n|\r(?!$)/);
    this.#pending = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
    return this.#done;
  }

  /** Whether the model's part is complete: its end was announced, whatever became of the connection. */
  get isFinished(): boolean {
    return this.#done || this.#folder.isFinished;
  }

  /** Text of the folded body. Throws a `CallFault` of class `connection` when the stream stopped early. */
  end(): string {
    this.#readLine(this.#pending);
    this.#readLine('');
    this.#pending = '';
    if (!this.isFinished) throw toCutFault(this.#events);
    return JSON.stringify(this.#folder.toBody());
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
    if (this.#folder.fold(parseEvent(data, this.#events))) this.#done = true;
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
