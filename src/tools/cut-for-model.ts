import { alignEnd, alignStart } from '../environments/utf8-boundaries.ts';

/** What a model reads of one observation, in bytes of UTF-8. */
export const MODEL_TEXT_BYTES = 16 * 1024;

/** Room for the note that says how much is missing. */
const NOTE_BYTES = 64;

/** A text of at most `maxBytes` bytes: beginning and end, and between them a note of how much was cut. */
export function cutForModel(text: string, maxBytes: number = MODEL_TEXT_BYTES): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  const room = Math.max(0, maxBytes - NOTE_BYTES);
  const end = alignEnd(bytes, Math.ceil(room / 2));
  const start = alignStart(bytes, bytes.length - Math.floor(room / 2));
  const note = `\n[... ${start - end} of ${bytes.length} bytes cut ...]\n`;
  return bytes.toString('utf8', 0, end) + note + bytes.toString('utf8', start);
}
