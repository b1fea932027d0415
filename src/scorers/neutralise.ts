/**
 * Signs that a reader does not see and that can hide or turn text: controls, other line ends, zero-width spaces,
 * bidirectional overrides and isolates, tags, rare variation selectors. Joiners, direction marks, number signs and the
 * two selectors of emoji stay: scripts need them.
 */
const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Variation_Selector}]--[\u{fe0e}-\u{fe0f}\t\n\u{600}-\u{605}\u{61c}\u{6dd}\u{70f}\u{200c}-\u{200f}]]/gv;

/** What chat templates take for the end of a turn, and lines that look like the edge of a block. */
const MARKS =
  /<(?=\|[^|\n]{1,40}\|>|\/?s>|\/?(?:start|end)_of_turn>|(?:bos|eos)>|<\/?SYS>>)|\[(?=\/?INST\])|<<(?=<\s*[0-9a-f]{8})/giu;

/** A text of somebody else as a model may be shown it: what cannot be seen is spelled out, marks of turns are broken. */
export const neutralise = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?/gu, '\n')
    .replaceAll(UNSEEN, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)
    .replaceAll(MARKS, (mark) => `${mark} `);
