import { Argument } from 'commander';
import { addJsonOption, type AddCommand } from '../command.ts';

export const addSchema: AddCommand = (program, run) => {
  addJsonOption(program.command('schema'))
    .description('print a JSON Schema, for editors and other programs')
    .addArgument(new Argument('<of>', 'what it describes').choices(['run', 'suite', 'report', 'comparison']))
    .action((of: string) =>
      run(async () => {
        const { printSchema } = await import('../print-schema.ts');
        return printSchema(of);
      }),
    );
};
