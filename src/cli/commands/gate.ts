import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import type { GateOptions } from '../gate-by-word.ts';
import { parseShare } from '../option-values.ts';

export const addGate: AddCommand = (program, run) => {
  addJsonOption(program.command('gate'))
    .description(
      'decide by exit code whether a run is good enough: 0, 100 a gate failed, 101 too little was scored',
    )
    .argument('<run>', RUN_ARGUMENT)
    .option(
      '--min-coverage <share>',
      'planned cells with a score (default: of the run file, else 0.95)',
      parseShare,
    )
    .option('--min-pass-rate <share>', 'attempts that pass', parseShare)
    .option('--min-mean <value>', 'mean score', parseShare)
    .option('--max-unscored-rate <share>', 'attempts that no scorer could judge', parseShare)
    .option('--require-models', 'a model that was skipped fails')
    .option(
      '--baseline <run>',
      'fail when the mean fell against this run; `last` = the one of the same name before',
    )
    .option('--tolerance <points>', 'how much of the mean may be lost against the baseline', parseShare, 0)
    .option('--confidence <share>', 'how sure a larger loss must be to fail', parseShare, 0.95)
    .option('--summary <file>', 'add a summary in Markdown to this file, such as "$GITHUB_STEP_SUMMARY"')
    .action((word: string, options: GateOptions) =>
      run(async (context) => {
        const { gateByWord } = await import('../gate-by-word.ts');
        return gateByWord(word, options, context);
      }),
    );
};
