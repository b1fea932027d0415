import type { RecordedPlace } from './process-record.ts';

/** A command to start. */
export type LaunchRequest = RecordedPlace & {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly variables: { readonly [name: string]: string };
  /** A file; null = nothing to read. */
  readonly stdinPath: string | null;
  /** Named pipes with a reader: of stdout and of stderr, the same one where they share it. */
  readonly outputPaths: readonly [string, string];
};

export type LaunchEnd =
  | { readonly kind: 'exit'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: 'spawn_error'; readonly message: string };

/** What the launcher is asked for. */
export type LauncherRequest = { readonly id: number } & (
  | { readonly kind: 'launch'; readonly launch: LaunchRequest }
  | { readonly kind: 'pipes'; readonly paths: readonly string[] }
);

/** `done`: the pipes are there. `failed`: a fault of the launcher's own work; nothing runs. */
export type LauncherAnswer = { readonly id: number } & (
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'ended'; readonly end: LaunchEnd }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string }
);
