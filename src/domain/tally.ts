import { OUTCOME_KINDS, type OutcomeKind } from './outcome.ts';
import type { Tally } from './workflow-brief.ts';

export const addOutcome = (tally: Tally, outcome: OutcomeKind): Tally => ({
  ...tally,
  [outcome]: (tally[outcome] ?? 0) + 1,
});

export const addTally = (a: Tally, b: Tally): Tally => {
  const sum: { [K in OutcomeKind]?: number } = {};
  for (const kind of OUTCOME_KINDS) {
    const count = (a[kind] ?? 0) + (b[kind] ?? 0);
    if (count > 0) sum[kind] = count;
  }
  return sum;
};

/** What has been added since `before`. */
export const tallySince = (tally: Tally, before: Tally): Tally => {
  const added: { [K in OutcomeKind]?: number } = {};
  for (const kind of OUTCOME_KINDS) {
    const count = (tally[kind] ?? 0) - (before[kind] ?? 0);
    if (count > 0) added[kind] = count;
  }
  return added;
};

export const countTally = (tally: Tally): number => Object.values(tally).reduce((sum, n) => sum + n, 0);

/** One line such as `12 scored, 1 infra`. */
export const formatTally = (tally: Tally): string =>
  OUTCOME_KINDS.filter((kind) => (tally[kind] ?? 0) > 0)
    .map((kind) => `${tally[kind]} ${kind.replace('_', ' ')}`)
    .join(', ') || 'nothing yet';
