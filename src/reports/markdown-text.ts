import { toPrintable } from './terminal-text.ts';

/**
 * A text that Markdown shows as it is, on one line, in headings, list items and table cells: what would be markup is
 * escaped (CommonMark 0.31, 2.4), what would be HTML is an entity.
 */
export const toMarkdownText = (text: string): string =>
  toPrintable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]~|#$]/g, String.raw`\$&`)
    // A list, a quote, a rule or an underline of a heading begins a line.
    .replace(/^([-+=])/, String.raw`\$1`)
    .replace(/^(\d+)([.)])(?=\s|$)/, String.raw`$1\$2`);

/**
 * A text as code, on one line: between more backticks than it holds in a row. Not for table cells, where a pipe ends
 * the cell even in code.
 */
export function toCode(text: string): string {
  const shown = toPrintable(text);
  if (shown === '') return '';
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}
