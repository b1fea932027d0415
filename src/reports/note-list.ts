import type picocolors from 'picocolors';
import type { Note } from './report-schema.ts';
import { hang, toPrintable } from './terminal-text.ts';

/** How a report is drawn: columns that may be used, and colours that may do nothing. */
export type Style = {
  readonly width: number;
  readonly colors: ReturnType<typeof picocolors.createColors>;
};

/** Notes as a list; those of a board stand under it. */
export function formatNotes(notes: readonly Note[], { width, colors }: Style): string {
  const lines = notes.flatMap((note) => hang('  • ', toPrintable(note.text), width));
  return lines.map((line) => colors.dim(line)).join('\n');
}
