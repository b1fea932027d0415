import { addJsonOption, type AddCommand } from '../command.ts';

export const addDown: AddCommand = (program, run) => {
  addJsonOption(program.command('down'))
    .description('stop the local stack; open runs go on after the next `assay up`')
    .action(() =>
      run(async (context) => {
        const { stopLocalStack } = await import('../stack-commands.ts');
        return stopLocalStack(context);
      }),
    );
};
