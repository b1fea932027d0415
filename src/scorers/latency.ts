import { z } from 'zod';
import type { ScorerVerdict } from '../domain/score.ts';
import { duration } from './duration.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { scored, unscored } from './verdict.ts';

const options = z.strictObject({
  max: duration.describe('Time in model calls that is still good, such as 2s.'),
});

/**
 * The agent's model calls took at most `max` together, waits for slots and retries left out: 1 within it, else
 * `max` as a share of what they took. An attempt without a model call cannot be judged.
 */
export const latency: Scorer = {
  kind: 'latency',
  options,
  place: 'local',
  measures: true,
  needsTarget: () => false,
  score: async (input) => judge(input),
};

function judge({ options: given, measured, threshold }: ScoreInput): ScorerVerdict {
  const { max } = options.parse(given);
  const latencyMs = measured?.latencyMs ?? null;
  if (latencyMs === null) return unscored('no_calls', 'no model call was recorded, so its time is not known');
  const took = `${Math.round(latencyMs)} ms in model calls`;
  return scored({
    value: latencyMs <= max ? 1 : max / latencyMs,
    threshold,
    explanation: latencyMs <= max ? `${took}, at most ${max} ms` : `${took}, at most ${max} ms expected`,
    metrics: { latencyMs },
  });
}
