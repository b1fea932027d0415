import { resolve } from 'node:path';
import { addJsonOption, type AddCommand } from '../command.ts';
import { toResult, type CommandResult } from '../command-result.ts';
import { EXIT } from '../exit-code.ts';

type WorkerOptions = { readonly stack?: boolean; readonly project?: string; readonly check?: boolean };

export const addWorker: AddCommand = (program, run) => {
  addJsonOption(program.command('worker'))
    .description('run a worker in the foreground; Ctrl-C lets it finish its calls')
    .option('--stack', 'as part of the local stack, which it stops when nobody uses it')
    .option('--project <dir>', 'folder that the packages of TypeScript run files resolve from')
    .option('--check', 'only say whether a worker with this data folder polls: ends with 0 or 1')
    .action((options: WorkerOptions) =>
      run(async ({ settings }) => {
        const { readKey } = await import('../../config/environment-variables.ts');
        // The stack tells its worker where it lies, whatever the current folder.
        const dataDir = readKey('ASSAY_DATA_DIR') ?? settings.dataDir;
        if (options.check === true) return await checkWorker(dataDir);
        const { readStackAddresses } = await import('../../local/stack.ts');
        const { startWorker } = await import('../../worker/start-worker.ts');
        const addresses = readStackAddresses(dataDir, process.env);
        const projectDir = options.project === undefined ? null : resolve(options.project);
        await startWorker({ ...addresses, dataDir, projectDir, stack: options.stack === true });
        return toResult({ document: { ended: true }, text: '' });
      }),
    );
};

async function checkWorker(dataDir: string): Promise<CommandResult> {
  const { hasPollingWorker } = await import('../../local/worker-part.ts');
  const polls = hasPollingWorker(dataDir);
  const text = polls ? 'A worker polls.' : `No worker with the data folder ${dataDir} polls.`;
  return toResult({ document: { polls }, text, exitCode: polls ? EXIT.ok : EXIT.error });
}
