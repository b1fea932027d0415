import { toTargetText } from '../domain/suite.ts';
import { defineScorer, type DefinedScorer } from './define-scorer.ts';
import type { Duration } from './define-tool.ts';

export type SimilarityDefinition = {
  /** What suites call it. */
  readonly name: string;
  /** One vector for each text, all of one length; from a model in this process, or an endpoint. */
  embed(
    texts: readonly string[],
    context: { readonly signal: AbortSignal },
  ): Promise<readonly (readonly number[])[]> | readonly (readonly number[])[];
  /** Default: 60s. */
  readonly timeout?: Duration;
};

/**
 * A scorer by meaning: the cosine of the answer's and the target's vector, the closest of a list, 0 where it is
 * negative. Give it a `threshold` in the suite: nothing but the same direction reaches 1.
 */
export function defineSimilarity(definition: SimilarityDefinition): DefinedScorer {
  const { name, embed, timeout } = definition;
  return defineScorer({
    name,
    needsTarget: true,
    ...(timeout === undefined ? {} : { timeout }),
    score: async ({ answer, targets, signal }) => {
      const [own, ...others] = await embed([answer, ...targets.map(toTargetText)], { signal });
      if (own === undefined || others.length !== targets.length)
        throw new TypeError(
          `embed gave too few vectors: one for each of ${targets.length + 1} texts is needed`,
        );
      const value = Math.max(0, ...others.map((other) => toCosine(own, other)));
      return { value: Math.min(1, value), explanation: `cosine ${value.toFixed(3)}` };
    },
  });
}

function toCosine(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length)
    throw new TypeError(`embed gave vectors of ${one.length} and ${other.length} numbers`);
  const product = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((total, value, index) => total + value * (b[index] ?? 0), 0);
  return product(one, other) / Math.sqrt(product(one, one) * product(other, other));
}
