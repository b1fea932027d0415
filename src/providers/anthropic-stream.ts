import type { StreamFolder } from './event-stream.ts';
import { isFields, textOf, toFields } from './fields.ts';
import type { Fields } from './fields.ts';

type OpenBlock = { readonly start: Fields; text: string; thinking: string; signature: string; input: string };

/** Folds the events of Anthropic's messages API into the message that the same answer has without streaming. */
export class AnthropicFolder implements StreamFolder {
  readonly #blocks = new Map<unknown, OpenBlock>();
  #message: Fields = {};
  #usage: Fields = {};
  #end: Fields = {};
  #isStopped = false;
  #error: unknown;

  get isFinished(): boolean {
    return this.#isStopped || typeof this.#end['stop_reason'] === 'string' || this.#error !== undefined;
  }

  fold(event: Fields): boolean {
    switch (event['type']) {
      case 'message_start':
        this.#message = toFields(event['message']);
        this.#addUsage(this.#message['usage']);
        break;
      case 'content_block_start':
        this.#blocks.set(event['index'], toBlock(toFields(event['content_block'])));
        break;
      case 'content_block_delta':
        addDelta(this.#blocks.get(event['index']), toFields(event['delta']));
        break;
      case 'message_delta':
        this.#end = { ...this.#end, ...toFields(event['delta']) };
        this.#addUsage(event['usage']);
        break;
      case 'message_stop':
        this.#isStopped = true;
        break;
      case 'error':
        this.#error = isFields(event['error']) ? event['error'] : event;
        break;
    }
    return this.#isStopped || this.#error !== undefined;
  }

  /** Later counts are totals; what a later event leaves out or has as null stays as it was. */
  #addUsage(usage: unknown): void {
    const known = Object.entries(toFields(usage)).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  toBody(): Fields {
    const content = [...this.#blocks.values()].map(toContentBlock);
    const counted = Object.keys(this.#usage).length > 0 ? { usage: this.#usage } : {};
    // Usage stays beside an error: what was read before an overload is paid.
    if (this.#error !== undefined) return { error: this.#error, ...counted };
    return { ...this.#message, ...this.#end, content, ...counted };
  }
}

const toBlock = (start: Fields): OpenBlock => ({
  start,
  text: textOf(start['text']),
  thinking: textOf(start['thinking']),
  signature: textOf(start['signature']),
  input: '',
});

function addDelta(block: OpenBlock | undefined, delta: Fields): void {
  if (block === undefined) return;
  block.text += textOf(delta['text']);
  block.thinking += textOf(delta['thinking']);
  block.signature += textOf(delta['signature']);
  block.input += textOf(delta['partial_json']);
}

function toContentBlock({ start, text, thinking, signature, input }: OpenBlock): Fields {
  switch (start['type']) {
    case 'text':
      return { ...start, text };
    case 'thinking':
      return { ...start, thinking, signature };
    case 'tool_use':
      return { ...start, input: input === '' ? (start['input'] ?? {}) : parseInput(input) };
    default:
      return start;
  }
}

/** Arguments that are no JSON stay the text that came. */
function parseInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
