import { z } from 'zod';
import type { ScorerVerdict } from '../domain/score.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { scored, unscored } from './verdict.ts';

const options = z.strictObject({
  maxUsd: z.number().min(0).describe('US dollars that an attempt may cost.'),
});

/**
 * The agent's model calls cost at most `maxUsd` together: 1 within it, else `maxUsd` as a share of the cost. An
 * attempt whose cost is not known cannot be judged: money unknown is never 0.
 */
export const cost: Scorer = {
  kind: 'cost',
  options,
  place: 'local',
  measures: true,
  needsPrice: true,
  needsTarget: () => false,
  score: async (input) => judge(input),
};

function judge({ options: given, measured, threshold }: ScoreInput): ScorerVerdict {
  const { maxUsd } = options.parse(given);
  const costUsd = measured?.costUsd ?? null;
  if (costUsd === null) {
    return unscored(
      'cost_unknown',
      'the cost of its model calls is not known: give the model a "price", or the scorer "required: false"',
    );
  }
  const isWithin = costUsd <= maxUsd;
  return scored({
    value: isWithin ? 1 : maxUsd / costUsd,
    threshold,
    explanation: `cost ${toText(costUsd)} USD, at most ${toText(maxUsd)}${isWithin ? '' : ' expected'}`,
    metrics: { costUsd },
  });
}

const toText = (usd: number): string => String(Number(usd.toPrecision(6)));
