import { cancelRun } from '../client/control-run.ts';
import { handOverMissing } from '../client/hand-over.ts';
import { watchRun } from '../client/watch-run.ts';
import type { StackOptions } from '../local/stack.ts';
import type { CommandContext } from './command.ts';
import { createRunDisplay, type RunDisplay } from './display/run-display.ts';
import { EXIT } from './exit-code.ts';
import type { Interrupts } from './interrupts.ts';
import type { OpenAssay } from './open-assay.ts';
import { superviseStack } from './supervise-stack.ts';

export type Following = {
  readonly open: OpenAssay;
  readonly runId: string;
  /** As `watchRun` takes it. */
  readonly generation: number;
  /** What Ctrl-C does: cancel the run, then leave. Null = leave at once. */
  readonly interrupts: Interrupts | null;
  readonly stackOptions: StackOptions;
  /** Leaves a run that awaits approval, instead of waiting with it. */
  readonly leaveWaiting?: boolean;
};

const POLL_MS = 300;

/**
 * Shows a run until it has ended, and keeps the parts of the local stack alive meanwhile. The first Ctrl-C
 * cancels the run and goes on showing it; the second ends the process.
 */
export async function followRun(following: Following, { settings }: CommandContext): Promise<void> {
  const { open, interrupts, stackOptions } = following;
  const display = createRunDisplay(process.stderr, settings);
  const ended = new AbortController();
  const supervised = superviseStack(stackOptions, {
    signal: ended.signal,
    notice: (text) => display.notice(text),
  });
  interrupts?.listen((count) => onInterrupt(count, following, display));
  const onTrouble = (message: string | null): void => {
    display.notice(
      message === null
        ? 'Postgres answers again.'
        : `Waiting for Postgres (${message}). If it was stopped, \`assay up\` starts it.`,
    );
  };
  try {
    for await (const progress of watchRun(open.connection, following, {
      signal: ended.signal,
      pollMs: POLL_MS,
      onTrouble,
    })) {
      display.show(progress);
      if (following.leaveWaiting === true && progress.state === 'awaiting_approval') break;
      // A worker that died was started again by somebody who had not the key; this command may have it.
      if (progress.missingKeys.length > 0) await handOverMissing(open.connection).catch(() => undefined);
    }
  } finally {
    ended.abort();
    await supervised;
    display.close();
  }
}

function onInterrupt(count: number, { open, runId }: Following, display: RunDisplay): void {
  if (count > 1) {
    display.close();
    process.stderr.write(
      `Left. The worker goes on cleaning up; \`assay watch ${runId}\` shows how it ends.\n`,
    );
    process.exit(EXIT.cancelled);
  }
  display.notice('Cancelling, waiting for cleanup. Ctrl-C again leaves at once; cleanup goes on.');
  cancelRun(open.connection, runId).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    display.notice(`Could not cancel: ${why}. Ctrl-C again leaves; \`assay cancel ${runId}\` tries again.`);
  });
}
