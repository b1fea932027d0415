import { addJsonOption, RUN_ARGUMENT, toNote, type AddCommand } from '../command.ts';

export const addUnpause: AddCommand = (program, run) => {
  addJsonOption(program.command('unpause'))
    .description('go on with a run that is paused')
    .argument('<run>', RUN_ARGUMENT)
    .option('--note <text>', 'why, for those who look at the run')
    .action((word: string, { note }: { readonly note?: string }) =>
      run(async (context) => {
        const { steerByWord } = await import('../steer-by-word.ts');
        return steerByWord(word, { message: 'unpause', input: toNote(note) }, context);
      }),
    );
};
