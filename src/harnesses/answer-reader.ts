import type { JsonSource } from '../domain/command-harness.ts';
import { findPlaces } from './json-places.ts';
import { createJsonReader, type TextReader } from './json-reader.ts';

export interface AnswerReader extends TextReader {
  /** Null = no object has it. */
  readonly found: string | null;
}

/** Reads the final answer out of JSON that an agent wrote: the last object that has the path counts. */
export function createAnswerReader(source: JsonSource & { readonly path: string }): AnswerReader {
  let found: string | null = null;
  const reader = createJsonReader(source, (value) => {
    const [place] = findPlaces(value, source.path);
    if (place === undefined || place === null) return;
    found = typeof place === 'string' ? place : JSON.stringify(place);
  });
  return {
    push: (chunk) => reader.push(chunk),
    end: () => reader.end(),
    get found() {
      return found;
    },
  };
}
