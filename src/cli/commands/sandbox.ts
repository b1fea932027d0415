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
    .option('--host <host>', 'forget all sessions of a host that will not come back')
    .action((sessions: readonly string[], { host }: { readonly host?: string }) =>
      run(async (context) => {
        const { cleanByWord, forgetByWord } = await import('../show-sandboxes.ts');
        return host === undefined ? cleanByWord(sessions, context) : forgetByWord(host, sessions, context);
      }),
    );
};
