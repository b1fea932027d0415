import { METRICS, type Metric, type RankingRule } from '../domain/ranking-rule.ts';
import { UsageError } from './usage-error.ts';

/** `accuracy=0.7,cost=0.3` as weights. Throws a UsageError that says what is wrong and what can be weighed. */
export function parseWeights(text: string): RankingRule['weights'] {
  const weights: { [metric in Metric]?: number } = {};
  for (const part of text.split(',')) {
    const [name = '', amount = ''] = part.split('=').map((word) => word.trim());
    const metric = METRICS.find((one) => one === name);
    if (metric === undefined)
      throw new UsageError(`--weights: "${name}" cannot be weighed; known: ${METRICS.join(', ')}.`);
    const weight = amount === '' ? Number.NaN : Number(amount);
    if (!(weight >= 0 && Number.isFinite(weight)))
      throw new UsageError(`--weights: expected a number of at least 0 for ${name}, got "${amount}".`);
    weights[metric] = weight;
  }
  if (Object.values(weights).every((weight) => weight === 0))
    throw new UsageError('--weights: at least one weight must be above 0.');
  return weights;
}
