const MARKUP =
  /<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]|<\/(?:h[1-6]|p|div|title|span|a|center|pre)>/i;
const ENTITIES: { readonly [name: string]: string } = {
  '&amp;': '&',
  '&lt;': '(',
  '&gt;': ')',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

const MESSAGE_LIMIT = 500;
/** Longer texts are cut before any pattern looks at them. */
const SCAN_LIMIT = 16_384;

/** Whether a text is a page and not a message. */
export const isMarkup = (text: string): boolean => MARKUP.test(text.slice(0, SCAN_LIMIT));

/** One line without markup and control characters, at most 500 characters, cut with an ellipsis. */
export function toReadableMessage(text: string): string {
  const scanned = text.slice(0, SCAN_LIMIT);
  const plain = isMarkup(scanned) ? stripMarkup(scanned) : scanned;
  const line = plain.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();
  return line.length <= MESSAGE_LIMIT
    ? line
    : `${line
        .slice(0, MESSAGE_LIMIT - 1)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd()}…`;
}

function stripMarkup(text: string): string {
  return text
    .replace(/<(script|style)\b[^<]*(?:<(?!\/\1)[^<]*)*(?:<\/\1[^>]*>|$)/gi, ' ')
    .replace(/<!--[^]*?(?:-->|$)/g, ' ')
    .replace(/<[^<>]*(?:>|$)/g, ' ')
    .replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? ' ');
}
