import { distance } from 'fastest-levenshtein';

/** Names that other tools give to what Assay calls otherwise. */
const FIELD_ALIASES: { readonly [name: string]: string } = {
  expected: 'target',
  expected_output: 'target',
  reference: 'target',
  answer: 'target',
  gold: 'target',
  question: 'input',
  prompt: 'input',
  messages: 'input',
  text: 'content',
  trials: 'attempts',
  epochs: 'attempts',
  repeat: 'attempts',
  dataset: 'suite',
  tests: 'cases',
  agent: 'harness',
  sandbox: 'environment',
  system_prompt: 'system',
  apikey: 'apiKeyEnv',
  api_key_env: 'apiKeyEnv',
  base_url: 'baseUrl',
  url: 'baseUrl',
  type: 'kind',
  concurrency: 'taskConcurrency',
  assert: 'scorers',
};

const toPlain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The known name that was most likely meant, or null when none is near. */
export function findNearest(name: string, known: Iterable<string>): string | null {
  const names = [...known];
  const plain = toPlain(name);
  const same = names.find((candidate) => toPlain(candidate) === plain);
  if (same !== undefined) return same;
  let best: string | null = null;
  let bestDistance = (name.length <= 3 ? 1 : Math.max(2, Math.floor(name.length * 0.4))) + 1;
  for (const candidate of names) {
    const difference = distance(plain, toPlain(candidate));
    if (difference < bestDistance) [best, bestDistance] = [candidate, difference];
  }
  return best;
}

/** As `findNearest`, for keys of a file: also knows what other tools call them. */
export function findNearestField(name: string, known: readonly string[]): string | null {
  const alias = FIELD_ALIASES[name] ?? FIELD_ALIASES[name.toLowerCase()];
  return alias !== undefined && known.includes(alias) ? alias : findNearest(name, known);
}
