const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/** Text as the value of an XML attribute, in double quotes. */
export const toXmlAttribute = (text: string): string =>
  `"${toWritable(text).replaceAll(/[&<>"\n\r\t]/g, (found) => ESCAPES[found] ?? found)}"`;

/** Text between XML tags; line breaks stay. */
export const toXmlText = (text: string): string =>
  toWritable(text).replaceAll(/[&<>\r]/g, (found) => ESCAPES[found] ?? found);

/** Characters that XML 1.0 cannot hold in any form are written as programs write them: `\u0001`. */
const toWritable = (text: string): string =>
  Array.from(text, (character) =>
    isWritable(character.codePointAt(0) ?? 0) ? character : toEscape(character),
  ).join('');

/** The production Char of XML 1.0. */
const isWritable = (code: number): boolean =>
  code === 0x9 ||
  code === 0xa ||
  code === 0xd ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  code >= 0x10000;

const toEscape = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
