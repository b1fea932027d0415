/** Marks an escaped code unit: the visible symbol for "escape", U+241B. */
const MARK = '\u241B';

const unstorable = /[\u241B\p{Surrogate}]/gu;
const escaped = /\u241B([0-9A-F]{4})/g;

/**
 * Makes a text that Postgres can hold: U+0000, lone surrogates, and the mark itself become U+241B followed by
 * four upper-case hex digits. Every other text stays as it is. Reversed by `unescapeText`.
 */
export const escapeText = (text: string): string =>
  text
    .replace(unstorable, (unit) => MARK + unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0'))
    .replaceAll('\0', `${MARK}0000`);

/** Gives back the text that `escapeText` was given. */
export const unescapeText = (text: string): string =>
  text.replace(escaped, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

export const escapeNullable = (text: string | null): string | null =>
  text === null ? null : escapeText(text);
export const unescapeNullable = (text: string | null): string | null =>
  text === null ? null : unescapeText(text);
