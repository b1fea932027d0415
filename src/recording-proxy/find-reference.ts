import { isFields, listFields, textOf, toFields, type Fields } from '../providers/fields.ts';

/** Why the bytes of a request do not bound what it costs, where something has to bound it; null = they do. */
export function findUnbounded(body: Fields, { isBounded }: { readonly isBounded: boolean }): string | null {
  const type = isBounded ? findReference(body) : null;
  if (type === null) return null;
  return `a part of type "${type}" names a file instead of containing it, and a budget or limit holds: send its bytes`;
}

/**
 * A picture or file in a request that is named and not contained, so that its bytes bound nothing: the type of its
 * part, or null. Arguments of tools are not looked at.
 */
function findReference(body: Fields): string | null {
  const turns = [...listFields(body['messages']), ...listFields(body['input'])];
  return findAmong(turns.flatMap((turn) => [turn, ...listParts(turn)]));
}

/** Results of tools hold parts of their own. */
const listParts = (one: Fields): readonly Fields[] =>
  [...listFields(one['content']), ...listFields(one['output'])].flatMap((part) => [part, ...listParts(part)]);

function findAmong(parts: readonly Fields[]): string | null {
  const found = parts.find(isReference);
  return found === undefined ? null : textOf(found['type']);
}

function isReference(part: Fields): boolean {
  const image = part['image_url'];
  const address = isFields(image) ? textOf(image['url']) : textOf(image);
  if (address !== '' && !address.startsWith('data:')) return true;
  const holders = [part, toFields(part['file'])];
  if (holders.some((holder) => textOf(holder['file_id'] ?? holder['file_url']) !== '')) return true;
  const source = textOf(toFields(part['source'])['type']);
  return source === 'url' || source === 'file';
}
