import { padEnd, padStart } from './display/text-width.ts';
import stringWidth from 'string-width';

export type TextTable = {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns of figures, by position. */
  readonly right?: readonly number[];
};

/** Columns as wide as their widest cell, two spaces apart; no blanks at line ends. */
export function formatTextTable({ heads, rows, right = [] }: TextTable): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => stringWidth(row[column] ?? ''))));
  const toLine = (row: readonly string[]): string =>
    widths
      .map((width, column) => (right.includes(column) ? padStart : padEnd)(row[column] ?? '', width))
      .join('  ')
      .trimEnd();
  return all.map(toLine).join('\n');
}
