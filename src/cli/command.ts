import type { Command } from 'commander';
import type { Settings } from '../config/environment-variables.ts';
import type { CommandResult } from './command-result.ts';

/** What every command gets. */
export type CommandContext = {
  readonly settings: Settings;
  readonly json: boolean;
  /** Says what goes on, on standard error. */
  readonly note: (text: string) => void;
};

/** Runs a command's action and prints what it returns. */
export type RunAction = (action: (context: CommandContext) => Promise<CommandResult>) => Promise<void>;

/** Adds one command to the program. What is large is imported inside its action. */
export type AddCommand = (program: Command, run: RunAction) => void;

export const RUN_ARGUMENT = 'id of a run, the start of one, or `last`';

/** The reason that somebody gives, as messages to a run carry it. */
export const toNote = (note: string | undefined): { readonly note?: string } =>
  note === undefined ? {} : { note };

/** Every command can print one JSON document instead of text, and do without colours. */
export const addJsonOption = (command: Command): Command =>
  command
    .option('--json', 'print one JSON document and nothing else')
    .option('--no-color', 'print without colours, as with the variable NO_COLOR');
