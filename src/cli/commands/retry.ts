import { InvalidArgumentError } from 'commander';
import { OUTCOME_KINDS, type OutcomeKind } from '../../domain/outcome.ts';
import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { parseAmount } from '../option-values.ts';

type RetryOptions = {
  readonly only?: readonly OutcomeKind[];
  readonly maxUsd?: number;
  readonly detach?: boolean;
  readonly yes?: boolean;
};

/** What has a score stays: its verdict is not drawn again. */
const RETRYABLE = OUTCOME_KINDS.filter((kind) => kind !== 'scored');

export const addRetry: AddCommand = (program, run) => {
  addJsonOption(program.command('retry'))
    .description('run cells again that have no score, as a new generation; earlier results stay visible')
    .argument('<run>', RUN_ARGUMENT)
    .option(
      '--only <outcomes>',
      `only cells that ended so, comma-separated: ${RETRYABLE.join(', ')} (default: all of these but refused)`,
      parseOutcomes,
    )
    .option('--max-usd <n>', 'new cap on the cost of the whole run', parseAmount)
    .option('--yes', 'approve spending above `budgets.confirmAboveUsd` beforehand')
    .option('--detach', 'start it and return at once')
    .action((word: string, { only, maxUsd, detach, yes }: RetryOptions) =>
      run(async (context) => {
        const { resumeByWord } = await import('../resume-by-word.ts');
        const { RETRIED_OUTCOMES } = await import('../../client/control-run.ts');
        const outcomes = only ?? RETRIED_OUTCOMES;
        const retry = { word, maxUsd: maxUsd ?? null, detach: detach === true, yes: yes === true, outcomes };
        return resumeByWord(retry, context);
      }),
    );
};

function parseOutcomes(text: string): readonly OutcomeKind[] {
  const words = text.split(',').map((word) => word.trim().replaceAll('-', '_'));
  const unknown = words.find((word) => !RETRYABLE.some((kind) => kind === word));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`expected outcomes among ${RETRYABLE.join(', ')}, got "${unknown}"`);
  return RETRYABLE.filter((kind) => words.includes(kind));
}
