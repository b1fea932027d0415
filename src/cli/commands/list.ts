import { addJsonOption, type AddCommand } from '../command.ts';
import { parseCount } from '../option-values.ts';

export const addList: AddCommand = (program, run) => {
  addJsonOption(program.command('list'))
    .description('list runs, the newest first')
    .option('--limit <n>', 'at most so many', parseCount, 20)
    .option('--open', 'only runs that have not ended')
    .action((options: { readonly limit: number; readonly open?: boolean }) =>
      run(async (context) => {
        const { showRuns } = await import('../show-runs.ts');
        return showRuns({ limit: options.limit, openOnly: options.open === true }, context);
      }),
    );
};
