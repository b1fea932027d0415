import { addJsonOption, RUN_ARGUMENT, toNote, type AddCommand } from '../command.ts';

export const addSet: AddCommand = (program, run) => {
  addJsonOption(program.command('set'))
    .description('change limits of a run while it goes on; caps on spending only upward')
    .argument('<run>', RUN_ARGUMENT)
    .argument(
      '<limits...>',
      'taskConcurrency=8, slots.PROVIDER=16 or =auto, sessions.docker=8 or =auto, maxRunUsd=10, maxModelUsd=5, maxRunTokens=1000000, timeout=2h or =none',
    )
    .option('--note <text>', 'why, for those who look at the run')
    .action((word: string, limits: readonly string[], { note }: { readonly note?: string }) =>
      run(async (context) => {
        const [{ steerByWord }, { parseLimits }] = await Promise.all([
          import('../steer-by-word.ts'),
          import('../parse-limits.ts'),
        ]);
        const input = { ...parseLimits(limits), ...toNote(note) };
        return steerByWord(word, { message: 'set', input }, context);
      }),
    );
};
