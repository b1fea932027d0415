/** What an answer selects: no letter = nothing that could be read. */
export type Chosen = { readonly letters: readonly string[] };

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The letter of a target: a letter among the options, else the option with this text; null = neither. */
export function toLetter(target: string, choices: readonly string[]): string | null {
  const bare = target
    .trim()
    .replaceAll(/^[\s([]+|[\s)\].:]+$/g, '')
    .toUpperCase();
  if (bare.length === 1 && toLetters(choices).includes(bare)) return bare;
  return findByText(target, choices);
}

/** Reads the options that an answer selects; `choices` may be empty when only the prompt lists them. */
export function readChoice(answer: string, choices: readonly string[]): Chosen {
  const text = undress(answer);
  for (const read of [readMarked, readPhrase, readOption, readLine]) {
    const letters = read(text, choices);
    if (letters !== null) return { letters };
  }
  return { letters: [] };
}

/** Letters, or null when this way of answering is not present. An empty list = present and declined. */
type Reading = readonly string[] | null;

/** Line that starts with `Answer:`, or `\boxed{}`: the last one that can be read; a last one that declines selects nothing. */
function readMarked(text: string, choices: readonly string[]): Reading {
  const marks = text.matchAll(
    /(?:^|\n)[^\S\n]*(?:[#>\-•][^\S\n]*)*(?:(?:the|my|final|correct|best)\s+)*answer[^\S\n]*(?:is[^\S\n]*)?[:=][^\S\n]*|\\boxed\s*\{|(?:^|\n)[^\S\n]*#+[^\S\n]*(?:final\s+)?answer[^\S\n]*(?=\n)/giu,
  );
  return readLast(text, marks, choices);
}

/** `the answer is B`, `answer: B` inside a line, `B is the correct answer`. */
function readPhrase(text: string, choices: readonly string[]): Reading {
  const after = text.matchAll(
    /\b(?:answer|(?:right|correct|best)\s+(?:option|choice|one)|option|choice)\s*(?:is\b|would\s+be\b|must\s+be\b|[:=])[\s:]*/giu,
  );
  const chosen = readLast(text, after, choices);
  if (chosen !== null) return chosen;
  const before = text.matchAll(/(?<![\p{L}\p{N}])\(?([A-Z])\)?\s+is\s+(?:the\s+)?(?:right|correct|best)\b/gu);
  return lastOf(
    [...before].map((match) => match[1] ?? ''),
    choices,
  );
}

/** `option (B)`, `I choose B`. */
function readOption(text: string, choices: readonly string[]): Reading {
  const marks = text.matchAll(
    /\b(?:option|choice|letter|choose|select|pick|go\s+with)\s+(?=[(["']?[A-Z](?![\p{L}\p{N}]))/gu,
  );
  return readLast(text, marks, choices);
}

/** `B`, `(B)`, `B) green`, `green`: the last line, else the first. */
function readLine(text: string, choices: readonly string[]): Reading {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  for (const line of [lines.at(-1) ?? '', lines[0] ?? '']) {
    const isLabelled = /^[([]?[A-Za-z]\s*(?:[)\].:,]|$|[-–—]\s|(?:and|or|&)\s)/u.test(line);
    const letters = isLabelled ? readLabels(line, choices) : [];
    if (letters.length > 0) return letters;
    const byText = findByText(line, choices);
    if (byText !== null) return [byText];
  }
  return null;
}

const DECLINES =
  /^(?:none\b|neither\b|no(?:thing| answer| option)\b|(?:i\s+)?(?:do\s*n[o']?t|don[’']t|can(?:no|[’'])t)\b|unknown\b|unsure\b|not\s)/iu;

const READ_MARKS = 20;
const READ_CHARACTERS = 400;

/** Reads what follows the marks, the last first; of a hostile answer only the last few marks. */
function readLast(text: string, marks: Iterable<RegExpExecArray>, choices: readonly string[]): Reading {
  const starts = Array.from(marks, (mark) => mark.index + mark[0].length).slice(-READ_MARKS);
  const rests = starts.map((start) => text.slice(start, start + READ_CHARACTERS).trimStart());
  const last = rests.at(-1);
  for (const rest of rests.toReversed()) {
    const letters = readLabels(rest, choices);
    if (letters.length > 0) return letters;
    const byText = findByText(rest.split(/[\n}]/u, 1)[0] ?? '', choices);
    if (byText !== null) return [byText];
    if (rest === last && DECLINES.test(rest)) return [];
  }
  return null;
}

const SEPARATOR = /^\s*(?:[,;/&+]\s*(?:and\s+|or\s+)?|(?:and|or)\s+)/iu;

/** Letters at the start of a text: one, or a list (`A, B, and C`). */
function readLabels(rest: string, choices: readonly string[]): readonly string[] {
  const letters: string[] = [];
  let remaining = rest.replace(/^\s*(?:option|choice|letter)\s+/iu, '');
  for (;;) {
    const label = /^\s*[([{"'“]*([A-Za-z])(?![\p{L}\p{N}]|['’-]\p{L})/u.exec(remaining);
    const letter = label?.[1] ?? '';
    const following = remaining.slice(label?.[0].length ?? 0);
    if (!isLabel({ letter, following, choices })) break;
    letters.push(letter.toUpperCase());
    const closed = following.replace(/^\s*[)\]}"'”.]*/u, '');
    const separator = SEPARATOR.exec(closed);
    if (separator === null) break;
    remaining = closed.slice(separator[0].length);
  }
  return [...new Set(letters)];
}

type Label = { readonly letter: string; readonly following: string; readonly choices: readonly string[] };

/** A letter that could be a word (`a`, `I`, any small letter) must be set off by what follows it. */
function isLabel({ letter, following, choices }: Label): boolean {
  const upper = letter.toUpperCase();
  if (letter === '' || !toLetters(choices).includes(upper)) return false;
  const isWordLike = letter !== upper || letter === 'A' || letter === 'I';
  if (!isWordLike || !/^[^\S\n]+\p{L}/u.test(following)) return true;
  if (/^\s+(?:because|since|as|and|or|is)\b/u.test(following) && letter !== 'I') return true;
  const text = choices[ALPHABET.indexOf(upper)];
  return text !== undefined && following.trimStart().toLowerCase().startsWith(text.trim().toLowerCase());
}

const lastOf = (letters: readonly string[], choices: readonly string[]): Reading => {
  const last = letters.findLast((letter) => toLetters(choices).includes(letter));
  return last === undefined ? null : [last];
};

/** The only option with this text, without regard to case and closing marks. */
function findByText(text: string, choices: readonly string[]): string | null {
  const fold = (value: string): string =>
    value
      .normalize('NFKC')
      .trim()
      .replaceAll(/^["'“(]+|["'”).!]+$/gu, '')
      .trim()
      .toLowerCase();
  const matches = choices.flatMap((option, index) => (fold(option) === fold(text) ? [index] : []));
  const [only] = matches;
  return matches.length === 1 && only !== undefined && fold(text) !== '' ? (ALPHABET[only] ?? null) : null;
}

/** Letters of the options; without options all of them. */
const toLetters = (choices: readonly string[]): string =>
  choices.length === 0 ? ALPHABET : ALPHABET.slice(0, choices.length);

/** The text without the dress of Markdown and LaTeX, full-width letters as plain ones. */
function undress(answer: string): string {
  return answer
    .normalize('NFKC')
    .replaceAll('\r\n', '\n')
    .replaceAll(/\\(?:text|textbf|mathrm|mathbf|mathsf|operatorname)\s*\{([^{}]*)\}/gu, '$1')
    .replaceAll(/\*+|`+|\$+|__|\\[()[\]]/gu, '');
}
