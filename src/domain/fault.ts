import type { Score } from './score.ts';

/**
 * Kinds of scorers by how mechanical their verdict is: what the agent did, what it must not say, what it says, what it
 * took, how close it came, then judgement. Kinds that are not listed are code of a run file.
 */
const ORDER = [
  ['trajectory', 'command'],
  ['not'],
  ['exact', 'choice', 'numeric', 'json', 'regex', 'includes'],
  ['latency', 'cost'],
  ['similarity'],
  ['javascript'],
] as const satisfies readonly (readonly string[])[];

const JUDGE = 'judge';

/**
 * The one fault of an attempt that was scored and did not pass: of the scorers that failed it the most mechanical, of
 * equals the first in the suite. Null when none with a weight failed.
 */
export function findFault(scores: readonly Score[]): Score | null {
  const failing = scores.filter(
    ({ verdict, weight }) => verdict.kind === 'scored' && !verdict.pass && weight > 0,
  );
  return failing.toSorted((a, b) => rankKind(a.kind) - rankKind(b.kind))[0] ?? null;
}

function rankKind(kind: string): number {
  const name = kind.startsWith('not-') ? 'not' : kind;
  const place = ORDER.findIndex((kinds) => kinds.some((one) => one === name));
  if (place >= 0) return place;
  return kind === JUDGE ? ORDER.length + 1 : ORDER.length;
}
