import { Option } from 'commander';
import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { chooseFormat, REPORT_FORMATS, type ReportFormat } from '../report-format.ts';

type ReportOptions = { readonly format?: ReportFormat; readonly output?: string };

export const addReport: AddCommand = (program, run) => {
  addJsonOption(program.command('report'))
    .description('print the leaderboard of a run, or write it to a file')
    .argument('<run>', RUN_ARGUMENT)
    .addOption(
      new Option(
        '--format <format>',
        'form of the report (default: by the name of the file, else table)',
      ).choices(REPORT_FORMATS),
    )
    .option(
      '-o, --output <file>',
      'write it there instead of printing it; .md, .json and .txt choose the form',
    )
    .action((word: string, { format, output }: ReportOptions) =>
      run(async (context) => {
        const { reportByWord } = await import('../report-by-word.ts');
        return reportByWord({ word, format: chooseFormat(format, output), output: output ?? null }, context);
      }),
    );
};
