import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';

export const addCancel: AddCommand = (program, run) => {
  addJsonOption(program.command('cancel'))
    .description('stop a run: nothing new starts, what runs is ended and cleaned up')
    .argument('<run>', RUN_ARGUMENT)
    .option('--detach', 'do not wait for its end')
    .action((word: string, options: { readonly detach?: boolean }) =>
      run(async (context) => {
        const { cancelByWord } = await import('../cancel-by-word.ts');
        return cancelByWord({ word, detach: options.detach === true }, context);
      }),
    );
};
