import { addJsonOption, RUN_ARGUMENT, toNote, type AddCommand } from '../command.ts';

export const addPause: AddCommand = (program, run) => {
  addJsonOption(program.command('pause'))
    .description('start nothing more of a run; what runs goes on, and its deadline waits')
    .argument('<run>', RUN_ARGUMENT)
    .option('--note <text>', 'why, for those who look at the run')
    .action((word: string, { note }: { readonly note?: string }) =>
      run(async (context) => {
        const { steerByWord } = await import('../steer-by-word.ts');
        return steerByWord(word, { message: 'pause', input: toNote(note) }, context);
      }),
    );
};
