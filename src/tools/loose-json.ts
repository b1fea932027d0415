import type { Json } from '../domain/json.ts';

const FENCED = /^\s*```[a-z0-9]*[ \t]*\n([\s\S]*?)\n?[ \t]*```\s*$/i;
const SPACE = /\s*/y;
const NAME = /[A-Za-z_$][\w$-]*/y;
const WORD = /-?\d[\w.+-]*|[A-Za-z]+/y;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
]);
const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '"': '"', "'": "'", '\\': '\\', '/': '/' }),
);

/** Deeper values are left alone. */
const MAX_DEPTH = 100;

class Unreadable extends Error {}

/**
 * Reads what models write where JSON is meant: in a code fence, with single quotes, names without quotes, commas at
 * the end, line breaks in texts, the words of Python. Undefined = it is not certain what is meant; a text that was
 * cut off never is.
 */
export function readLooseJson(text: string): Json | undefined {
  try {
    return new LooseReader(FENCED.exec(text)?.[1] ?? text).readWhole();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class LooseReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readWhole(): Json {
    const value = this.#readValue(0);
    if (this.#next() !== '') throw new Unreadable();
    return value;
  }

  #readValue(depth: number): Json {
    if (depth > MAX_DEPTH) throw new Unreadable();
    const first = this.#next();
    if (first === '{') return this.#readObject(depth);
    if (first === '[') return this.#readList(depth);
    if (first === '"' || first === "'") return this.#readText(first);
    return this.#readWord();
  }

  #readObject(depth: number): Json {
    const entries: [string, Json][] = [];
    this.#at += 1;
    while (this.#next() !== '}') {
      const name = this.#readName();
      if (this.#next() !== ':') throw new Unreadable();
      this.#at += 1;
      entries.push([name, this.#readValue(depth + 1)]);
      this.#endItem('}');
    }
    this.#at += 1;
    return Object.fromEntries(entries);
  }

  #readList(depth: number): Json {
    const items: Json[] = [];
    this.#at += 1;
    while (this.#next() !== ']') {
      items.push(this.#readValue(depth + 1));
      this.#endItem(']');
    }
    this.#at += 1;
    return items;
  }

  /** A comma, or the bracket that follows the last item. */
  #endItem(bracket: string): void {
    const next = this.#next();
    if (next === ',') this.#at += 1;
    else if (next !== bracket) throw new Unreadable();
  }

  #readName(): string {
    const first = this.#next();
    return first === '"' || first === "'" ? this.#readText(first) : this.#take(NAME);
  }

  #readText(quote: string): string {
    let text = '';
    for (this.#at += 1; ; this.#at += 1) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new Unreadable();
      if (character === quote) break;
      text += character === '\\' ? this.#readEscape() : character;
    }
    this.#at += 1;
    return text;
  }

  /** Leaves the place at the escape's last character. */
  #readEscape(): string {
    this.#at += 1;
    const kind = this.#text[this.#at] ?? '';
    if (kind !== 'u') {
      const plain = ESCAPES.get(kind);
      if (plain === undefined) throw new Unreadable();
      return plain;
    }
    const code = this.#text.slice(this.#at + 1, this.#at + 5);
    if (!/^[0-9a-f]{4}$/i.test(code)) throw new Unreadable();
    this.#at += 4;
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  #readWord(): Json {
    const word = this.#take(WORD);
    const known = WORDS.get(word);
    if (known !== undefined) return known;
    const number = Number(word);
    if (!NUMBER.test(word) || !Number.isFinite(number)) throw new Unreadable();
    return number;
  }

  #take(pattern: RegExp): string {
    this.#next();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new Unreadable();
    this.#at += found.length;
    return found;
  }

  /** The next character that is no space; '' at the end. */
  #next(): string {
    SPACE.lastIndex = this.#at;
    SPACE.exec(this.#text);
    this.#at = SPACE.lastIndex;
    return this.#text[this.#at] ?? '';
  }
}
