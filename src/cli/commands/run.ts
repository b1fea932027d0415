import type { Command } from 'commander';
import { addJsonOption, type AddCommand } from '../command.ts';
import { collect, parseAmount, parseCount } from '../option-values.ts';
import type { RunOptions } from '../run-options.ts';

export const addRun: AddCommand = (program, run) => {
  const command = addJsonOption(program.command('run'))
    .description('run an evaluation and show its leaderboard')
    .argument('<file>', 'run file (YAML, JSON, or TypeScript)');
  addSelection(command);
  addChanges(command);
  command
    .option('--run-id <id>', 'name the run; the id of a run that exists attaches to it')
    .option('--detach', 'start it and return at once')
    .option('--yes', 'approve spending above `budgets.confirmAboveUsd` beforehand')
    .option('--reuse <run>', 'take its scored cells whose fingerprints match, instead of running them')
    .option('--allow-mismatch', 'with --reuse: also cells made in another way; every report says so')
    .option('--dry-run', 'print the plan and the estimate, start nothing')
    .action((file: string, options: RunOptions) =>
      run(async (context) => {
        const { runFile } = await import('../run-file.ts');
        return runFile(file, options, context);
      }),
    );
};

function addSelection(command: Command): void {
  command
    .option('--case <glob>', 'only cases whose id matches (repeatable)', collect)
    .option('--tag <tag>', 'only cases with this tag (repeatable)', collect)
    .option('--exclude-tag <tag>', 'no cases with this tag (repeatable)', collect)
    .option('--limit <n>', 'at most so many cases of each suite', parseCount)
    .option('--model <id>', 'only this model (repeatable)', collect)
    .option('--request <name>', 'only this request (repeatable)', collect);
}

function addChanges(command: Command): void {
  command
    .option('--endpoint <url>', "an OpenAI-compatible address instead of the file's models")
    .option('--endpoint-model <name>', 'model to ask for there (repeatable)', collect)
    .option('--endpoint-key-env <name>', 'name of the variable that holds its key')
    .option('--environment <kind>', 'open sessions in host or bubblewrap instead')
    .option('--attempts <k>', 'attempts of each case', parseCount)
    .option('--concurrency <n>', 'attempts that run at a time', parseCount)
    .option('--max-usd <n>', 'stop the run at this cost', parseAmount);
}
