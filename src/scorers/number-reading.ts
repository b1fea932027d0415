/** How numbers are written: the decimal mark, and what a percent sign does. */
export type NumberStyle = {
  readonly decimal: 'point' | 'comma';
  readonly percent: 'ignore' | 'divide';
};

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A text without the dress of Markdown and LaTeX that gets in the way of numbers. */
export function toPlainText(text: string): string {
  return text
    .replaceAll(/([⁻]?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/gu, (_, minus: string, digits: string) => {
      const plain = Array.from(digits, (digit) => SUPERSCRIPTS.indexOf(digit)).join('');
      return `^${minus === '' ? '' : '-'}${plain}`;
    })
    .replaceAll(/[−–](?=\d|\.\d)/gu, '-')
    .replaceAll(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/gu, ' $1/$2 ')
    .replaceAll(/\\(?:times|cdot)/gu, '×')
    .replaceAll(/\\(?:text|mathrm|mathbf|textbf|boxed)\s*\{/gu, ' ')
    .replaceAll(/([-+])\\?[$€£¥]/gu, '$1')
    .replaceAll('{,}', ',')
    .replaceAll(/\\[,!;: ]/gu, '')
    .replaceAll('\\%', '%')
    .replaceAll(/[*`$€£¥{}]|\\[()[\]]/gu, (mark) => (mark === '*' ? '' : ' '));
}

const GROUP_MARKS = "\\u00a0\\u2009\\u202f'’_";

const PATTERNS = { point: toPattern('.', ','), comma: toPattern(',', '.') };

/**
 * One number: sign, digits with groups of three or without, fraction, power of ten, `/ denominator`, percent.
 * Not inside a word (`H2O`) or a chain of points (`1.2.3`).
 */
function toPattern(decimal: string, group: string): RegExp {
  const digits = `(?:\\d{1,3}(?:[${group}${GROUP_MARKS}]\\d{3})+(?!\\d)|\\d+)`;
  const number = `(?:${digits}(?:[${decimal}]\\d+)?|[${decimal}]\\d+)`;
  const power = `(?:[eE][+-]?\\d+(?!\\w)|\\s*[×x·]\\s*10\\s*\\^\\s*\\(?[+-]?\\d+\\)?)?`;
  const before = `(?<![\\p{L}\\d_]|[\\p{L}\\d][${decimal}])`;
  const sign = `(?<sign>(?<![\\p{L}\\d)\\]])[-+])?`;
  const after = `(?!\\d|[${decimal}]\\d)`;
  const quotient = `(?:\\s*/\\s*(?<below>${digits}(?:[${decimal}]\\d+)?)(?!\\d|\\s*/))?`;
  return new RegExp(
    `${sign}${before}(?<above>${number}${power})${after}${quotient}\\s?(?<percent>%|percent\\b)?`,
    'gu',
  );
}

/** Every number of a text in order; what is too large for a double is left out. */
export function readNumbers(text: string, style: NumberStyle): readonly number[] {
  const numbers: number[] = [];
  for (const { groups } of text.matchAll(PATTERNS[style.decimal])) {
    const above = toNumber(groups?.['above'] ?? '', style);
    const below = groups?.['below'] === undefined ? 1 : toNumber(groups['below'], style);
    const sign = groups?.['sign']?.startsWith('-') === true ? -1 : 1;
    const scale = groups?.['percent'] !== undefined && style.percent === 'divide' ? 100 : 1;
    const value = (sign * above) / below / scale;
    if (Number.isFinite(value)) numbers.push(value);
  }
  return numbers;
}

function toNumber(text: string, style: NumberStyle): number {
  const [mantissa = '', power] = text.split(/\s*[×x·]\s*10\s*\^\s*/u);
  const plain = mantissa.replaceAll(/[\u00a0\u2009\u202f'’_]/gu, '');
  const pointed =
    style.decimal === 'point' ? plain.replaceAll(',', '') : plain.replaceAll('.', '').replace(',', '.');
  return power === undefined ? Number(pointed) : Number(`${pointed}e${power.replaceAll(/[()]/g, '')}`);
}
