import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { parseAmount } from '../option-values.ts';

type ResumeOptions = { readonly maxUsd?: number; readonly detach?: boolean; readonly yes?: boolean };

export const addResume: AddCommand = (program, run) => {
  addJsonOption(program.command('resume'))
    .description('continue a run that ended early: what has no result runs again, what has one stays')
    .argument('<run>', RUN_ARGUMENT)
    .option('--max-usd <n>', 'new cap on the cost of the whole run', parseAmount)
    .option('--yes', 'approve spending above `budgets.confirmAboveUsd` beforehand')
    .option('--detach', 'start it and return at once')
    .action((word: string, { maxUsd, detach, yes }: ResumeOptions) =>
      run(async (context) => {
        const { resumeByWord } = await import('../resume-by-word.ts');
        const resume = {
          word,
          maxUsd: maxUsd ?? null,
          detach: detach === true,
          yes: yes === true,
          outcomes: null,
        };
        return resumeByWord(resume, context);
      }),
    );
};
