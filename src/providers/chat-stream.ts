import { readContent } from './chat-answer.ts';
import type { StreamFolder } from './event-stream.ts';
import { isFields } from './fields.ts';
import type { Fields } from './fields.ts';

type OpenToolCall = { id: string | null; index: number | null; name: string; arguments: string };

/** Folds the events of a streamed chat completion into the body that the same answer has without streaming. */
export class ChatFolder implements StreamFolder {
  readonly #calls: OpenToolCall[] = [];
  readonly #ignored: Fields[] = [];
  #id: string | null = null;
  #text = '';
  #reasoning = '';
  #refusal = '';
  #finish: string | null = null;
  #choiceError: unknown;
  #bodyError: unknown;
  #usage: Fields | null = null;
  #hasChoice = false;

  /** What announces the end of a choice; usage may follow in an event of its own. */
  get isFinished(): boolean {
    return this.#finish !== null || this.#bodyError !== undefined || this.#choiceError !== undefined;
  }

  fold(event: Fields): boolean {
    if (typeof event['id'] === 'string' && event['id'] !== '') this.#id ??= event['id'];
    if (isFields(event['usage'])) this.#usage = event['usage'];
    if (event['error'] !== undefined && event['error'] !== null) this.#bodyError = event['error'];
    const choices = Array.isArray(event['choices']) ? event['choices'] : [];
    for (const choice of choices.filter(isFields)) {
      if (choice['index'] === undefined || choice['index'] === null || choice['index'] === 0)
        this.#foldChoice(choice);
    }
    return this.#bodyError !== undefined;
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

  toBody(): Fields {
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
