import { addJsonOption, type AddCommand } from '../command.ts';

export const addDoctor: AddCommand = (program, run) => {
  addJsonOption(program.command('doctor'))
    .description('check what Assay needs, and say what to do about each thing that is not well')
    .action(() =>
      run(async (context) => {
        const { examine } = await import('../stack-commands.ts');
        return examine(context);
      }),
    );
};
