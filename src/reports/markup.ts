/** A piece of HTML that holds nothing unescaped of others. */
export type Markup = { readonly html: string };

type Value = string | number | Markup | readonly Markup[] | null;

/** HTML from a template: every text in it is escaped, pieces are joined, null is nothing. */
export const markup = (parts: TemplateStringsArray, ...values: readonly Value[]): Markup => ({
  html: parts.map((part, index) => part + toHtml(values[index] ?? null)).join(''),
});

/** Text whose author is this program, such as a style sheet. */
export const trusted = (html: string): Markup => ({ html });

function toHtml(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escapeText(value);
  if ('html' in value) return value.html;
  return value.map(({ html }) => html).join('');
}

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Also without characters that would turn or hide what stands beside them; line breaks stay. */
const escapeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replaceAll(/\p{Cc}/gu, (found) => (found === '\n' || found === '\t' ? found : '\ufffd'))
    .replaceAll(/[&<>"']/g, (found) => ESCAPES[found] ?? found);
