import { distance } from 'fastest-levenshtein';

export type RunMatch =
  | { readonly kind: 'found'; readonly runId: string }
  | { readonly kind: 'ambiguous'; readonly runIds: readonly string[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] };

/**
 * The run that a word of the command line means: `last` (the newest), a whole id, or a prefix that only one
 * id has. `runIds` come newest first.
 */
export function matchRun(word: string, runIds: readonly string[]): RunMatch {
  if (word === 'last') {
    const newest = runIds[0];
    return newest === undefined ? { kind: 'unknown', nearest: [] } : { kind: 'found', runId: newest };
  }
  if (runIds.includes(word)) return { kind: 'found', runId: word };
  const starting = word === '' ? [] : runIds.filter((runId) => runId.startsWith(word));
  const [only] = starting;
  if (only !== undefined && starting.length === 1) return { kind: 'found', runId: only };
  if (starting.length > 1) return { kind: 'ambiguous', runIds: starting };
  return { kind: 'unknown', nearest: findNearest(word, runIds) };
}

/** Up to three ids, nearest first: compared with the id's start too, as people type prefixes. */
function findNearest(word: string, runIds: readonly string[]): readonly string[] {
  const limit = Math.max(2, Math.floor(word.length * 0.4));
  const measure = (runId: string): number =>
    Math.min(distance(word, runId), distance(word, runId.slice(0, word.length)));
  return runIds
    .map((runId) => ({ runId, far: measure(runId) }))
    .filter((one) => one.far <= limit)
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map((one) => one.runId);
}
