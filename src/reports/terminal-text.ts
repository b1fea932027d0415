import stringWidth from 'string-width';

/** Columns that a text takes on a terminal. */
export const toWidth = (text: string): number => stringWidth(text);

/**
 * A text that may be printed: without control and direction characters, so that no answer can steer the terminal;
 * white space as single spaces.
 */
export const toPrintable = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
    .trim();

/** Cut in the middle to a width, since both ends of an id tell it apart. */
export function shortenMiddle(text: string, width: number): string {
  if (toWidth(text) <= width) return text;
  const characters = Array.from(text);
  const tail = Math.floor((width - 1) / 2);
  return `${takeWidth(characters, width - 1 - tail).join('')}…${takeWidth(characters.toReversed(), tail).toReversed().join('')}`;
}

function takeWidth(characters: readonly string[], width: number): string[] {
  const taken: string[] = [];
  let used = 0;
  for (const character of characters) {
    used += toWidth(character);
    if (used > width) break;
    taken.push(character);
  }
  return taken;
}

/** Lines of at most `width` columns, broken at spaces; words that are too long are cut hard. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((part) => splitWord(part, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (toWidth(longer) > width) lines.push(line);
    line = toWidth(longer) > width ? word : longer;
  }
  return [...lines, line];
}

function splitWord(word: string, width: number): readonly string[] {
  if (toWidth(word) <= width) return [word];
  const head = takeWidth(Array.from(word), width).join('');
  return head === '' ? [word] : [head, ...splitWord(word.slice(head.length), width)];
}

/** Text after a mark, further lines under its first letter. */
export function hang(mark: string, text: string, width: number): readonly string[] {
  const indent = toWidth(mark);
  return wrap(text, Math.max(20, width - indent)).map(
    (line, index) => `${index === 0 ? mark : ' '.repeat(indent)}${line}`,
  );
}
