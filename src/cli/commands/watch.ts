import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';

export const addWatch: AddCommand = (program, run) => {
  addJsonOption(program.command('watch'))
    .description('follow a run to its end and show its leaderboard; Ctrl-C cancels the run')
    .argument('<run>', RUN_ARGUMENT)
    .action((word: string) =>
      run(async (context) => {
        const { watchToEnd } = await import('../watch-to-end.ts');
        return watchToEnd(word, context);
      }),
    );
};
