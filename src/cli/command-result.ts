import type { ExitCode } from './exit-code.ts';

/** What a command has to say, for people and for programs. */
export type CommandResult = {
  /** The one document that `--json` prints. */
  readonly document: unknown;
  /** The same for people, without a line break at its end; empty = nothing. */
  readonly text: string;
  /** Commands to type next, the likeliest first. */
  readonly next: readonly string[];
  readonly exitCode: ExitCode;
};

export function toResult(
  result: Partial<CommandResult> & Pick<CommandResult, 'document' | 'text'>,
): CommandResult {
  return { next: [], exitCode: 0, ...result };
}

/** The result as standard output gets it. */
export function formatResult(result: CommandResult, form: { readonly json: boolean }): string {
  if (form.json) return `${JSON.stringify(result.document, null, 2)}\n`;
  const next = result.next.map((command, index) => `${index === 0 ? 'Next: ' : '      '}${command}`);
  const parts = [result.text, next.join('\n')].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${parts.join('\n\n')}\n`;
}
