import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';
import { collect } from '../option-values.ts';

type ScoreOptions = {
  readonly scorer?: readonly string[];
  readonly scorers?: string;
  readonly detach?: boolean;
};

export const addScore: AddCommand = (program, run) => {
  addJsonOption(program.command('score'))
    .description('grade the recorded answers again, as a new score version; nothing is run')
    .argument('<run>', RUN_ARGUMENT)
    .option(
      '--scorer <scorer>',
      'a kind, or a map such as "{ kind: numeric, tolerance: 0.1 }" (repeatable; default: those of the run file)',
      collect,
    )
    .option('--scorers <file>', 'the scorers of a suite file')
    .option('--detach', 'start it and return at once')
    .action((word: string, { scorer, scorers, detach }: ScoreOptions) =>
      run(async (context) => {
        const { scoreByWord } = await import('../score-by-word.ts');
        const given = { texts: scorer ?? [], file: scorers ?? null };
        return scoreByWord({ word, detach: detach === true, ...given }, context);
      }),
    );
};
