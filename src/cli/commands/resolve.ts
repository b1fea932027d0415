import { addJsonOption, RUN_ARGUMENT, type AddCommand } from '../command.ts';

type ResolveOptions = { readonly output?: string };

export const addResolve: AddCommand = (program, run) => {
  addJsonOption(program.command('resolve'))
    .description('say what became of a tool call whose worker was lost (`onUnknown: ask`)')
    .argument('<run>', RUN_ARGUMENT)
    .argument('<cell>', 'the case, or model/case, or model/case/a2')
    .argument(
      '<choice>',
      'done = it took effect; rerun = run it again; skip = tell the agent that nobody knows',
    )
    .option('--output <text>', 'with done: what the call gave')
    .action((word: string, cell: string, ...[choice, { output }]: [string, ResolveOptions, unknown]) =>
      run(async (context) => {
        const { resolveByWord } = await import('../resolve-by-word.ts');
        const words = { cell, choice, ...(output === undefined ? {} : { output }) };
        return resolveByWord(word, words, context);
      }),
    );
};
