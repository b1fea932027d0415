import type { StreamFolder } from './event-stream.ts';
import { isFields, listFields, textOf, toFields } from './fields.ts';
import type { Fields } from './fields.ts';

/** Folds the chunks of Gemini's `streamGenerateContent` into the one answer of `generateContent`. */
export class GoogleFolder implements StreamFolder {
  readonly #parts: Fields[] = [];
  #last: Fields = {};
  #candidate: Fields | null = null;
  #error: unknown;

  get isFinished(): boolean {
    return (
      typeof this.#candidate?.['finishReason'] === 'string' ||
      typeof toFields(this.#last['promptFeedback'])['blockReason'] === 'string' ||
      this.#error !== undefined
    );
  }

  /** Nothing announces the end of the stream: usage may come after the last part. */
  fold(chunk: Fields): boolean {
    if (isFields(chunk['error'])) this.#error = chunk['error'];
    const { candidates, ...rest } = chunk;
    this.#last = { ...this.#last, ...rest };
    const [candidate] = listFields(candidates);
    if (candidate !== undefined) {
      const { content, ...about } = candidate;
      this.#candidate = { ...this.#candidate, ...about };
      for (const part of listFields(toFields(content)['parts'])) this.#addPart(part);
    }
    return this.#error !== undefined;
  }

  /** Pieces of one text become one part again; a signature closes its part. */
  #addPart(part: Fields): void {
    const last = this.#parts.at(-1);
    const continues =
      last !== undefined &&
      isPlainText(last) &&
      typeof part['text'] === 'string' &&
      (last['thought'] === true) === (part['thought'] === true);
    if (!continues) {
      this.#parts.push(part);
      return;
    }
    this.#parts[this.#parts.length - 1] = { ...last, ...part, text: textOf(last['text']) + part['text'] };
  }

  toBody(): Fields {
    if (this.#error !== undefined) return { error: this.#error, usageMetadata: this.#last['usageMetadata'] };
    if (this.#candidate === null) return this.#last;
    return { ...this.#last, candidates: [{ ...this.#candidate, content: { parts: this.#parts } }] };
  }
}

const isPlainText = (part: Fields): boolean =>
  typeof part['text'] === 'string' && part['thoughtSignature'] === undefined;
