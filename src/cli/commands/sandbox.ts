import { addJsonOption, type AddCommand } from '../command.ts';

export const addSandbox: AddCommand = (program, run) => {
  const sandbox = program.command('sandbox').description('sessions of environments: open, kept, left behind');
  addJsonOption(sandbox.command('list'))
    .description('list sessions with owner and expiry')
    .action(() =>
      run(async (context) => {
        const { showSandboxes } = await import('../show-sandboxes.ts');
        return showSandboxes(context);
      }),
    );
  addJsonOption(sandbox.command('clean'))
    .description('remove kept sessions')
    .argument('[sessions...]', 'their ids; all kept ones unless given')
    .action((sessions: readonly string[]) =>
      run(async (context) => {
        const { cleanByWord } = await import('../show-sandboxes.ts');
        return cleanByWord(sessions, context);
      }),
    );
};
