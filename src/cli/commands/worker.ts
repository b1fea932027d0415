import { resolve } from 'node:path';
import { addJsonOption, type AddCommand } from '../command.ts';
import { toResult } from '../command-result.ts';

export const addWorker: AddCommand = (program, run) => {
  addJsonOption(program.command('worker'))
    .description('run a worker in the foreground; Ctrl-C lets it finish its calls')
    .option('--stack', 'as part of the local stack, which it stops when nobody uses it')
    .option('--project <dir>', 'folder that the packages of TypeScript run files resolve from')
    .action((options: { readonly stack?: boolean; readonly project?: string }) =>
      run(async ({ settings }) => {
        const { readKey } = await import('../../config/environment-variables.ts');
        const { readStackAddresses } = await import('../../local/stack.ts');
        const { startWorker } = await import('../../worker/start-worker.ts');
        // The stack tells its worker where it lies, whatever the current folder.
        const dataDir = readKey('ASSAY_DATA_DIR') ?? settings.dataDir;
        const addresses = readStackAddresses(dataDir, process.env);
        const projectDir = options.project === undefined ? null : resolve(options.project);
        await startWorker({ ...addresses, dataDir, projectDir, stack: options.stack === true });
        return toResult({ document: { ended: true }, text: '' });
      }),
    );
};
