import { addJsonOption, RUN_ARGUMENT, toNote, type AddCommand } from '../command.ts';

type ApproveOptions = { readonly reject?: boolean; readonly note?: string };

export const addApprove: AddCommand = (program, run) => {
  addJsonOption(program.command('approve'))
    .description('let a run start whose estimate is above `budgets.confirmAboveUsd`')
    .argument('<run>', RUN_ARGUMENT)
    .option('--reject', 'end it as cancelled instead; nothing is spent')
    .option('--note <text>', 'why, for those who look at the run')
    .action((word: string, { reject, note }: ApproveOptions) =>
      run(async (context) => {
        const { steerByWord } = await import('../steer-by-word.ts');
        const message = reject === true ? 'reject' : 'approve';
        return steerByWord(word, { message, input: toNote(note) }, context);
      }),
    );
};
