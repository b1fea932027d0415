import type { TestCase } from '../domain/suite.ts';
import { defineScorer, type DefinedScorer } from './define-scorer.ts';

/** What a scorer of the package `autoevals` gives. */
export type AutoevalsScore = {
  /** From 0 to 1; null = it cannot judge. */
  readonly score: number | null;
  readonly metadata?: { readonly [key: string]: unknown };
};

/**
 * A scorer of `autoevals` under a name of yours: it is given the case's input, the answer as `output` and the target
 * as `expected`, with `extra` beside them. Those that call a model do so by themselves, outside budgets and retries.
 */
export const fromAutoevals = (
  name: string,
  // Each has its own idea of what else it takes and what it expects.
  scorer: (args: never) => Promise<AutoevalsScore> | AutoevalsScore,
  extra: { readonly [argument: string]: unknown } = {},
): DefinedScorer =>
  defineScorer({
    name,
    score: async ({ answer, target, case: testCase }) => {
      const expected = target === null ? {} : { expected: target };
      const args = { ...extra, ...expected, input: toInputText(testCase), output: answer };
      const { score, metadata } = await scorer(args as never);
      const rationale = metadata?.['rationale'];
      return { value: score, explanation: typeof rationale === 'string' ? rationale : '' };
    },
  });

const toInputText = ({ input }: TestCase): string =>
  input.kind === 'text' ? input.text : (input.messages.at(-1)?.text ?? '');
