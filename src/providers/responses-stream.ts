import type { StreamFolder } from './event-stream.ts';
import { isFields, toFields } from './fields.ts';
import type { Fields } from './fields.ts';

const ENDS: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

/**
 * Folds the events of OpenAI's responses API. Its last event repeats the whole answer; the items are kept
 * on the way for servers whose last event leaves them out.
 */
export class ResponsesFolder implements StreamFolder {
  readonly #items = new Map<number, Fields>();
  #response: Fields | null = null;
  #error: unknown;

  get isFinished(): boolean {
    return this.#response !== null || this.#error !== undefined;
  }

  fold(event: Fields): boolean {
    if (event['type'] === 'error') this.#error = isFields(event['error']) ? event['error'] : event;
    else if (isFields(event['error'])) this.#error = event['error'];
    if (event['type'] === 'response.output_item.done' && isFields(event['item'])) {
      const index = event['output_index'];
      this.#items.set(typeof index === 'number' ? index : this.#items.size, event['item']);
    }
    if (ENDS.has(event['type'])) this.#response = toFields(event['response']);
    return this.isFinished;
  }

  toBody(): Fields {
    if (this.#error !== undefined) return { error: this.#error };
    const response = this.#response ?? {};
    const output = Array.isArray(response['output']) ? response['output'] : [];
    const seen = [...this.#items.entries()].sort(([one], [other]) => one - other).map(([, item]) => item);
    return output.length > 0 || seen.length === 0 ? response : { ...response, output: seen };
  }
}
