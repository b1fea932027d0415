import { Option } from 'commander';
import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { collect } from '../option-values.ts';

type CompareOptions = { readonly model?: readonly string[]; readonly format: 'table' | 'markdown' };

export const addCompare: AddCommand = (program, run) => {
  addJsonOption(program.command('compare'))
    .description('set two runs against each other case by case, or the models of one run')
    .argument('<first>', RUN_ARGUMENT)
    .argument('[second]', 'the run that is held against it; without one the models of the first are compared')
    .option('--model <id>', 'only this model (repeat for several)', collect)
    .addOption(
      new Option('--format <format>', 'form of the text').choices(['table', 'markdown']).default('table'),
    )
    .action((first: string, second: string | undefined, { model, format }: CompareOptions) =>
      run(async (context) => {
        const { compareByWord } = await import('../compare-by-word.ts');
        return compareByWord({ first, second: second ?? null, models: model ?? [], format }, context);
      }),
    );
};
