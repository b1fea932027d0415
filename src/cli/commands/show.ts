import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { parseCount } from '../option-values.ts';
import { parseStepRange } from '../step-window.ts';
import type { CaseChoice } from '../show-case.ts';

export const addShow: AddCommand = (program, run) => {
  addJsonOption(program.command('show'))
    .description('show the facts of a run, or what an attempt of one of its cases did, said and scored')
    .argument('<run>', RUN_ARGUMENT)
    .argument('[case]', 'id of a case')
    .option('--model <id>', 'only attempts of this model')
    .option('--request <name>', 'only attempts under this request')
    .option('--attempt <n>', 'only this attempt', parseCount)
    .option('--steps <from-to>', 'these steps of an agent; the last 40 unless given', parseStepRange)
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
