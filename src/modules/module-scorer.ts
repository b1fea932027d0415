import { z } from 'zod';
import type { ModuleScorer, RunModule } from '../domain/run-module.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import type { ScoreInput, Scorer } from '../scorers/scorer.ts';
import { unscored } from '../scorers/verdict.ts';
import { formatError } from './error-facts.ts';
import { ModuleError } from './module-error.ts';
import type { ModulePool } from './module-pool.ts';
import { toOptionsSchema } from './options-schema.ts';

/** A scorer of a run file, run in a process of its own. */
export const createModuleScorer = (pool: ModulePool, module: RunModule, scorer: ModuleScorer): Scorer => ({
  kind: scorer.name,
  options: toOptionsSchema(scorer),
  place: 'process',
  needsTarget: () => scorer.needsTarget,
  score: (input) => scoreInModule({ pool, module, scorer }, input),
});

type Parts = {
  readonly pool: ModulePool;
  readonly module: RunModule;
  readonly scorer: Pick<ModuleScorer, 'name' | 'timeoutMs'>;
};

/** One judgement in a process of the pool; what goes wrong there is an unscored verdict. */
export async function scoreInModule(
  { pool, module, scorer }: Parts,
  input: ScoreInput,
): Promise<ScorerVerdict> {
  const { timeoutMs } = scorer;
  const { answer, target, testCase, threshold, signal, options, about } = input;
  const message = {
    kind: 'score',
    name: scorer.name,
    shownName: about?.scorerName ?? scorer.name,
    options,
    answer,
    testCase,
    threshold,
    targets: target?.values ?? [],
    transcript: about?.transcript ?? [],
    modelId: about?.modelId ?? '',
    context: about?.context ?? {},
  } as const;
  try {
    const end = await pool.call(module, message, { timeoutMs, signal });
    switch (end.kind) {
      case 'answered':
        return verdict.parse(end.answer);
      case 'failed':
        return unscored('scorer_failed', formatError(end.error));
      case 'crashed':
        return unscored('scorer_failed', `broke off: ${end.message}`);
      case 'timeout':
        return unscored(
          'time_out',
          `gave no verdict in ${(timeoutMs / 1000).toFixed(1)} s, its limit (measured ${(end.measuredMs / 1000).toFixed(1)} s, phase evaluate); it and all that it started were ended`,
        );
    }
  } catch (error) {
    if (error instanceof ModuleError) return unscored('scorer_failed', error.message);
    throw error;
  }
}

/** What came from another process is read like anything from outside. */
const verdict = z.union([
  z.strictObject({
    kind: z.literal('scored'),
    value: z.number(),
    pass: z.boolean(),
    explanation: z.string(),
    metrics: z.record(z.string(), z.json()),
  }),
  z.strictObject({ kind: z.literal('unscored'), code: z.string(), explanation: z.string() }),
]);
