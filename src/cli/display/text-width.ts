import stringWidth from 'string-width';

/** Columns that a text takes on a terminal. */
export const toWidth = (text: string): number => stringWidth(text);

/** Cuts a text in its middle so that it takes at most `width` columns; the start and the end tell names apart. */
export function fitMiddle(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  if (width <= 1) return width <= 0 ? '' : '…';
  const letters = toLetters(text);
  const head = takeWidth(letters, Math.ceil((width - 1) / 2));
  const tail = takeWidth(letters.toReversed(), Math.floor((width - 1) / 2)).toReversed();
  return `${head.join('')}…${tail.join('')}`;
}

/** Cuts a text at its end so that it takes at most `width` columns. */
export function fitEnd(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  return width <= 1 ? '…'.slice(0, Math.max(0, width)) : `${takeWidth(toLetters(text), width - 1).join('')}…`;
}

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)));

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - stringWidth(text))) + text;

const segmenter = new Intl.Segmenter();

const toLetters = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

function takeWidth(letters: readonly string[], width: number): readonly string[] {
  const taken: string[] = [];
  let used = 0;
  for (const letter of letters) {
    used += stringWidth(letter);
    if (used > width) break;
    taken.push(letter);
  }
  return taken;
}
