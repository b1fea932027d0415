import type { JsonSource } from '../domain/command-harness.ts';
import { isMeant } from './json-places.ts';
import { LineReader } from './line-reader.ts';

/** A text is handed over piece by piece, then its end. */
export interface TextReader {
  push(chunk: Uint8Array): void;
  end(): void;
}

/** A document of more bytes is not read. */
const LARGEST_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** Finds the objects that a source means: in lines of JSON, or in the one document of a text. */
export function createJsonReader(
  { kind, where }: JsonSource,
  onObject: (value: unknown) => void,
): TextReader {
  const offer = (text: string): void => {
    const value = parse(text);
    if (value !== undefined && isMeant(value, where)) onObject(value);
  };
  return kind === 'json_lines' ? new LineReader(offer) : createDocumentReader(offer);
}

function createDocumentReader(onText: (text: string) => void): TextReader {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    push: (chunk) => {
      bytes += chunk.length;
      if (bytes > LARGEST_DOCUMENT_BYTES) pieces.length = 0;
      else pieces.push(Uint8Array.from(chunk));
    },
    end: () => {
      const text = Buffer.concat(pieces).toString('utf8');
      // Agents print a word or two before and after it.
      const from = text.search(/^\s*[[{]/m);
      const to = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
      if (from !== -1) onText(text.slice(from, to + 1));
    },
  };
}

/** Lines that are no JSON are words for a person. */
function parse(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') && !trimmed.startsWith('[')) return undefined;
  try {
    return JSON.parse(trimmed);
  } catch {
    return undefined;
  }
}
