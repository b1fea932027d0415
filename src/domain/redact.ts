import type { Json } from './json.ts';

/** Stands where a secret was. */
export const REDACTED = '[redacted]';

/** Values shorter than this are ignored: they would hit innocent text. */
const SHORTEST = 6;

export type Redactor = {
  /** Takes out the known values: for everything that is read back. */
  redact: (text: string) => string;
  /** Takes out the known values and whatever has the shape of a key: for logs, errors, previews, reports. */
  redactPatterns: (text: string) => string;
};

/**
 * Takes known secret values out of texts: as they are, as JSON (also inside JSON) writes them, percent encoded, and inside base64
 * at any offset (also url-safe). Longest first; values under six characters are ignored. Never looks at field
 * names.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = new Set(secrets.filter((secret) => secret.length >= SHORTEST).flatMap(listForms));
  if (forms.size === 0) return { redact: (text) => text, redactPatterns };
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  const known = new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g');
  const redact = (text: string): string => text.replace(known, REDACTED);
  return { redact, redactPatterns: (text) => redactPatterns(redact(text)) };
}

/** Shapes of keys and passwords that are recognised wherever they stand. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN ([A-Z ]{0,30}PRIVATE KEY)-----[\s\S]{0,8192}?-----END \1-----/g, REDACTED],
  [/\b(Bearer|Basic)\s+[\w.~+/-]{16,}=*/gi, `$1 ${REDACTED}`],
  [/(?<![\w-])(?:sk|pk|rk)[-_](?=[\w-]{0,200}\d)[\w-]{16,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[\w-]{35}/g, REDACTED],
  [/\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}/g, REDACTED],
  [/\bxox[abprs]-[\w-]{10,}/g, REDACTED],
  [/\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g, REDACTED],
  [/(\/\/[^\s:/@]{0,256}):[^\s/@]{1,256}@/g, `$1:${REDACTED}@`],
];

/**
 * Takes out what looks like a key, a token or the password of an address, for logs, error texts, previews
 * and reports. By shape alone: a field called `answer_key` stays.
 */
export const redactPatterns = (text: string): string =>
  patterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);

/** Takes secrets out of every text of a JSON value, names of fields included. */
export function redactJson(value: Json, redact: Redactor['redact']): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [redact(name), redactJson(item, redact)]),
  );
}

function listForms(secret: string): string[] {
  const written = secret.isWellFormed() ? [encodeURIComponent(secret)] : [];
  const inJson = JSON.stringify(secret).slice(1, -1);
  // JSON inside JSON: arguments of a tool call, a body that an error message quotes.
  const twiceInJson = JSON.stringify(inJson).slice(1, -1);
  return [secret, inJson, twiceInJson, ...written, ...listBase64Forms(secret)];
}

/**
 * The part of a secret's base64 that does not depend on what stands before and after it, for each of the
 * three offsets at which it can begin in a group.
 */
function listBase64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const forms = [0, 1, 2].flatMap((offset) => {
    const padded = String.fromCharCode(...new Uint8Array(offset), ...bytes);
    const first = Math.ceil((offset * 4) / 3);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = btoa(padded).slice(first, last);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return forms.filter((form) => form.length >= SHORTEST);
}
