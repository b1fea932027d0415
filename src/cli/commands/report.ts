import { Option } from 'commander';
import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';

type ReportOptions = { readonly format: 'table' | 'json'; readonly output?: string };

export const addReport: AddCommand = (program, run) => {
  addJsonOption(program.command('report'))
    .description('print the leaderboard of a run, or write it to a file')
    .argument('<run>', RUN_ARGUMENT)
    .addOption(
      new Option('--format <format>', 'form of the report').choices(['table', 'json']).default('table'),
    )
    .option('--output <file>', 'write it there instead of printing it')
    .action((word: string, { format, output }: ReportOptions) =>
      run(async (context) => {
        const { reportByWord } = await import('../report-by-word.ts');
        return reportByWord({ word, format, output: output ?? null }, context);
      }),
    );
};
