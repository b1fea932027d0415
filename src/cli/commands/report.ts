import { Option } from 'commander';
import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { parseWeights } from '../parse-weights.ts';
import { chooseFormat, REPORT_FORMATS, type ReportFormat } from '../report-format.ts';

type ReportOptions = { readonly format?: ReportFormat; readonly output?: string; readonly weights?: string };

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
      'write it there instead of printing it; .md, .html, .json, .csv, .xml (JUnit) and .txt choose the form',
    )
    .option(
      '--weights <list>',
      'rank as if the run weighed this, such as accuracy=0.7,cost=0.2,latencyP95=0.1',
    )
    .action((word: string, { format, output, weights }: ReportOptions) =>
      run(async (context) => {
        const { reportByWord } = await import('../report-by-word.ts');
        const query = { word, format: chooseFormat(format, output), output: output ?? null };
        const asked = weights === undefined ? {} : { weights: parseWeights(weights) };
        return reportByWord({ ...query, ...asked }, context);
      }),
    );
};
