import { addJsonOption, type AddCommand } from '../command.ts';

export const addUp: AddCommand = (program, run) => {
  addJsonOption(program.command('up'))
    .description('start the local stack: Postgres, Temporal and the worker, as far as they do not run')
    .action(() =>
      run(async (context) => {
        const { startStack } = await import('../stack-commands.ts');
        return startStack(context);
      }),
    );
};
