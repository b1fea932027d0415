import { Command, CommanderError } from 'commander';
import { readKey, readSettings } from '../config/environment-variables.ts';
import { formatResult, type CommandResult } from './command-result.ts';
import { COMMANDS } from './commands/index.ts';
import { EXIT } from './exit-code.ts';
import { describeFailure, toStackText } from './failure-text.ts';
import { readVersion } from './version.ts';

/** Runs one command line; sets the exit code of the process, and never throws. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  const json = args.includes('--json');
  endQuietlyOnClosedPipe();
  try {
    process.exitCode = await parse(args, { json });
  } catch (error) {
    process.exitCode = tell(error, { json });
  }
  // Everything has been closed; should a connection linger all the same, it keeps nobody waiting.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

const LINGER_MS = 1_000;

async function parse(args: readonly string[], form: { readonly json: boolean }): Promise<number> {
  let exitCode: number = EXIT.ok;
  const found = readSettings();
  const settings = { ...found, noColor: found.noColor || args.includes('--no-color') };
  const program = createProgram(form);
  for (const add of COMMANDS) {
    add(program, async (action) => {
      const result: CommandResult = await action({ settings, json: form.json, note: writeNote });
      process.stdout.write(formatResult(result, form));
      exitCode = result.exitCode;
    });
  }
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.ok;
  }
  await program.parseAsync(args, { from: 'user' });
  return exitCode;
}

function createProgram({ json }: { readonly json: boolean }): Command {
  return new Command('assay')
    .description('Evaluations of AI models and agents as durable Temporal workflows.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command does and takes')
    .helpCommand('help [command]', 'print what a command does and takes')
    .showHelpAfterError('(`assay help COMMAND` says what it takes)')
    .showSuggestionAfterError(true)
    .configureOutput({ writeErr: (text) => (json ? undefined : process.stderr.write(text)) })
    .addHelpText('after', '\nStart with `assay init`, then `assay run run.yaml`.')
    .exitOverride();
}

/** Says an error once, to people on standard error and to programs as the one document. */
function tell(error: unknown, { json }: { readonly json: boolean }): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    const message = error.message.replace(/^error: /, '');
    if (json) writeDocument({ error: { code: 'usage', message, problems: null } });
    return EXIT.error;
  }
  const failure = describeFailure(error);
  if (readKey('ASSAY_DEBUG') !== null) process.stderr.write(`${toStackText(error)}\n\n`);
  process.stderr.write(`assay: ${failure.message}\n`);
  if (json) writeDocument({ error: failure });
  return EXIT.error;
}

const writeDocument = (document: unknown): void => {
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
};

const writeNote = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** `assay list | head -1` is no error. */
function endQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit();
      throw error;
    });
  }
}
