import type { Finding, Path } from './problem.ts';
import { isMap } from './written.ts';

/** Forms of keys that providers give out, and of credentials in addresses. */
const KEY_PATTERNS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gsk|xai|hf|r8|nvapi|pplx|fw|tvly)[_-][A-Za-z0-9_-]{20,}/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr|github_pat)_[A-Za-z0-9_]{20,}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/g,
  /(?<=\bBearer\s)[A-Za-z0-9._~+/=-]{16,}/gi,
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
];

/** Field names, in lower case without separators, whose text can only be a credential. */
const KEY_FIELDS = new Set([
  'authorization',
  'proxyauthorization',
  'token',
  'accesstoken',
  'authtoken',
  'bearertoken',
  'refreshtoken',
  'secret',
  'clientsecret',
  'secretkey',
  'password',
  'passwd',
  'privatekey',
  'accesskey',
]);

/** Shorter texts are no keys, and masking them would eat holes into every message. */
const MIN_MASKED = 6;
/** Messages show so much of a longer text. */
export const SHOWN_CHARACTERS = 57;

const VARIABLE_NAME = /^[A-Za-z_]\w*$/;
/** Long, with many digits and in one piece: nobody names a variable like that. */
const KEY_IN_PLACE_OF_NAME = /^(?=(?:\D*\d){4})[A-Za-z0-9]{20,}$/;

/** Whether a text can be the name of an environment variable, and is no key in its place. */
export const isVariableName = (text: string): boolean =>
  VARIABLE_NAME.test(text) && !KEY_IN_PLACE_OF_NAME.test(text) && maskKeys(text, new Set()) === text;

/** Whether a field of this name can only hold a credential. */
export const isKeyField = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return KEY_FIELDS.has(plain) || plain.endsWith('apikey');
};

/** Replaces what looks like a key, and every given secret, by stars of the same length. */
export function maskKeys(text: string, secrets: ReadonlySet<string>): string {
  let masked = text;
  for (const secret of secrets) {
    masked = masked.replaceAll(secret, '*'.repeat(secret.length));
    // Messages cut long texts before they are masked.
    if (secret.length > SHOWN_CHARACTERS) {
      masked = masked.replaceAll(secret.slice(0, SHOWN_CHARACTERS), '*'.repeat(SHOWN_CHARACTERS));
    }
  }
  for (const pattern of KEY_PATTERNS) masked = masked.replace(pattern, (key) => '*'.repeat(key.length));
  return masked;
}

/**
 * Literal credentials in a run file, by form everywhere and by field name outside inline suites (a case
 * may well be about a password). Adds each found text to `secrets`, so that no message shows it.
 */
export function findLiteralKeys(value: unknown, secrets: Set<string>): readonly Finding[] {
  const findings: Finding[] = [];
  const visit = (node: unknown, path: Path, named: boolean): void => {
    if (typeof node === 'string') {
      const finding = judgeText(node, path, named);
      const noName = path.at(-1) === 'apiKeyEnv' && !VARIABLE_NAME.test(node.replace(/^\$\{?|\}$/g, ''));
      if ((finding !== null || noName) && node.length >= MIN_MASKED) secrets.add(node);
      // What cannot be a variable's name is told where names are checked.
      if (finding !== null && !noName) findings.push(finding);
    } else if (Array.isArray(node)) {
      node.forEach((item, index) => visit(item, [...path, index], named));
    } else if (isMap(node)) {
      for (const [key, item] of Object.entries(node)) visit(item, [...path, key], named && key !== 'suite');
    }
  };
  visit(value, [], true);
  return findings;
}

/** A placeholder that is filled in later, or the name of a variable where names are expected. */
const standsForKey = (text: string, path: Path): boolean =>
  /^\{\{\s*token\s*\}\}$/.test(text) ||
  ((path.includes('variablesEnv') || path.includes('headersEnv')) && isVariableName(text));

function judgeText(text: string, path: Path, named: boolean): Finding | null {
  const field = path.findLast((step) => typeof step === 'string') ?? '';
  const byForm =
    KEY_PATTERNS.some((pattern) => text.search(pattern) !== -1) ||
    (field === 'apiKeyEnv' && KEY_IN_PLACE_OF_NAME.test(text));
  const byName = named && text.trim() !== '' && isKeyField(field) && !standsForKey(text, path);
  if (!byForm && !byName) return null;
  const variable = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(text)?.[1];
  const advice =
    variable === undefined
      ? 'put it into an environment variable and name that variable with apiKeyEnv on the provider'
      : `"${text}" is not expanded here; write apiKeyEnv: ${variable} on the provider`;
  return {
    path,
    message: `a run file may not hold a literal key or credential ("${field}"): ${advice}`,
    expected: 'apiKeyEnv: NAME_OF_A_VARIABLE',
    got: `a text of ${text.length} characters`,
  };
}
