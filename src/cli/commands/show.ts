import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { parseCount } from '../option-values.ts';
import type { CaseChoice } from '../show-case.ts';

export const addShow: AddCommand = (program, run) => {
  addJsonOption(program.command('show'))
    .description('show the facts of a run, or the transcript, calls and scores of one of its cases')
    .argument('<run>', RUN_ARGUMENT)
    .argument('[case]', 'id of a case')
    .option('--model <id>', 'only attempts of this model')
    .option('--request <name>', 'only attempts under this request')
    .option('--attempt <n>', 'only this attempt', parseCount)
    .action((word: string, caseId: string | undefined, choice: CaseChoice) =>
      run(async (context) => {
        if (caseId === undefined) {
          const { showRun } = await import('../show-run.ts');
          return showRun(word, context);
        }
        const { showCase } = await import('../show-case.ts');
        return showCase({ word, caseId, choice }, context);
      }),
    );
};
