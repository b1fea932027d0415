/** Where a JSON value that starts at a place ends: `end` is behind it; `cut` = the text stopped inside it. */
export type ScanResult =
  | { readonly kind: 'whole'; readonly end: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'broken'; readonly at: number };

const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y;
const CUT_SCALAR = /(?:-|t|tr|tru|f|fa|fal|fals|n|nu|nul|-?\d+(?:\.\d*)?(?:[eE][+-]?\d*)?)?$/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/y;
const SPACE = /[ \t\n\r]*/y;

/** What may come next: a value, a key, the colon after it, or a comma. `first` = the bracket may also close. */
type Wanted = 'value' | 'first-value' | 'key' | 'first-key' | 'colon' | 'comma';

/** Follows the grammar of JSON (RFC 8259) from an opening bracket, in one pass and without recursion. */
export function scanJson(text: string, start: number): ScanResult {
  const closers: string[] = [];
  let wanted: Wanted = 'value';
  let at = start;
  for (;;) {
    at = skip(SPACE, text, at) ?? at;
    if (at >= text.length) return { kind: 'cut' };
    const step = readToken({ text, at, wanted, closers });
    if (typeof step === 'string') return step === 'cut' ? { kind: 'cut' } : { kind: 'broken', at };
    at = step.end;
    wanted = step.wanted;
    if (closers.length === 0) return { kind: 'whole', end: at };
  }
}

type Position = {
  readonly text: string;
  readonly at: number;
  readonly wanted: Wanted;
  readonly closers: string[];
};
type Step = { readonly end: number; readonly wanted: Wanted } | 'cut' | 'broken';

function readToken(position: Position): Step {
  const { text, at, wanted, closers } = position;
  const character = text[at] ?? '';
  if (character === closers.at(-1) && wanted !== 'value' && wanted !== 'key' && wanted !== 'colon') {
    closers.pop();
    return { end: at + 1, wanted: 'comma' };
  }
  switch (wanted) {
    case 'colon':
      return character === ':' ? { end: at + 1, wanted: 'value' } : 'broken';
    case 'comma':
      return character === ',' ? { end: at + 1, wanted: closers.at(-1) === '}' ? 'key' : 'value' } : 'broken';
    case 'key':
    case 'first-key':
      return readString(text, at, 'colon');
    case 'value':
    case 'first-value':
      return readValue(position, character);
  }
}

function readValue({ text, at, closers }: Position, character: string): Step {
  if (character === '{' || character === '[') {
    closers.push(character === '{' ? '}' : ']');
    return { end: at + 1, wanted: character === '{' ? 'first-key' : 'first-value' };
  }
  if (character === '"') return readString(text, at, 'comma');
  const end = skip(SCALAR, text, at);
  if (end !== null) return { end, wanted: 'comma' };
  return skip(CUT_SCALAR, text, at) === null ? 'broken' : 'cut';
}

function readString(text: string, start: number, wanted: Wanted): Step {
  if (text[start] !== '"') return 'broken';
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') return { end: at + 1, wanted };
    if (character < ' ') return 'broken';
    if (character !== '\\') continue;
    const escape = skip(ESCAPE, text, at);
    if (escape === null) return skip(CUT_ESCAPE, text, at) === null ? 'broken' : 'cut';
    at = escape - 1;
  }
  return 'cut';
}

function skip(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
