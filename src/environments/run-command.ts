import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { openCommandOutput, type CommandOutput, type OutputRequest } from './command-output.ts';
import { endOwnedProcesses } from './end-processes.ts';
import { CommandLostError, type ExecRequest, type ExecResult } from './environment.ts';
import { launchCommand, type CommandEnd, type Launched } from './launcher.ts';
import type { OutputPipes } from './output-pipe.ts';
import { readBootId } from './process-table.ts';
import { loadRecordedProcesses, recordBeforeStart } from './process-record.ts';

export type CommandRequest = OutputRequest & {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly variables: { readonly [name: string]: string };
  readonly stdin: ExecRequest['stdin'];
  readonly timeoutMs: number;
};

export type CommandPlace = {
  /** Directory of the session. */
  readonly root: string;
  readonly pipes: OutputPipes;
  /** The real argument list, where the command is started inside something that is told how to mark it. */
  readonly wrap?: (argv: readonly string[], mark: string) => readonly string[];
  /** Called once when a command that has to end goes on starting processes faster than they are ended. */
  readonly onStuck?: () => Promise<void>;
};

/** How a wait for a command ended. */
type End = CommandEnd | { readonly kind: 'timeout' } | { readonly kind: 'abort' };

/** A command that it left behind may hold the pipe for ever; what was written before is read in this time. */
const DRAIN_MS = 100;

/** Runs one command to its end, its limit, or the abort, whichever comes first. */
export async function runCommand(
  request: CommandRequest,
  place: CommandPlace,
  signal: AbortSignal,
): Promise<ExecResult> {
  signal.throwIfAborted();
  const startedAt = performance.now();
  const { commandId, output, launched } = await start(request, place);
  const { pid, exited } = launched;
  const first = await waitForEnd(exited, request.timeoutMs, signal);
  if (first.kind !== 'exit' && first.kind !== 'spawn_error') await endCommand(place, { commandId, pid });
  if (first.kind === 'lost') throw new CommandLostError('the process that starts commands was lost');
  const end = first.kind === 'timeout' ? await exited : first;
  await Promise.race([output.drained, delay(DRAIN_MS)]);
  // A busy loop may have let the timer win over data that was there: two turns read it.
  await setImmediate();
  await setImmediate();
  output.leaveRunning();
  if (first.kind === 'abort') signal.throwIfAborted();
  return {
    exitCode: end.kind === 'exit' ? end.exitCode : null,
    signal: end.kind === 'exit' ? end.signal : null,
    timedOut: first.kind === 'timeout',
    spawnError: end.kind === 'spawn_error' ? end.message : null,
    output: output.captured.toText(),
    outputBytes: output.captured.totalBytes,
    durationMs: Math.round(performance.now() - startedAt),
    exceeded: null,
  };
}

type Started = { readonly commandId: string; readonly output: CommandOutput; readonly launched: Launched };

async function start(request: CommandRequest, { root, pipes, wrap }: CommandPlace): Promise<Started> {
  recordBeforeStart(root);
  await using stdinFile = request.stdin === null ? null : await writeStdin(root, request.stdin);
  const output = await openCommandOutput(pipes, request);
  const commandId = randomUUID();
  try {
    const launched = await launchCommand({
      root,
      bootId: readBootId(),
      argv: wrap?.(request.argv, `ASSAY_COMMAND=${commandId}`) ?? request.argv,
      cwd: request.cwd,
      variables: { ...request.variables, ASSAY_COMMAND: commandId },
      stdinPath: stdinFile?.path ?? null,
      outputPaths: output.paths,
    });
    return { commandId, output, launched };
  } finally {
    await output.handOver();
  }
}

/** A file instead of a pipe: a command that never reads, or stops early, breaks nothing. Gone once it is open. */
async function writeStdin(
  directory: string,
  content: string | AsyncIterable<Uint8Array>,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = join(directory, `stdin-${randomUUID()}`);
  await writeFile(path, content, { mode: 0o600 });
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

async function waitForEnd(exited: Promise<End>, timeoutMs: number, signal: AbortSignal): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const onTime = async (): Promise<void> => {
    // A worker that was stopped for a while hears of an end after its timer: two turns let that be heard first.
    await setImmediate();
    await setImmediate();
    resolve({ kind: 'timeout' });
  };
  const timer = setTimeout(() => void onTime(), timeoutMs);
  const onAbort = (): void => resolve({ kind: 'abort' });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([exited, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Only what this command started: servers that earlier ones left running stay. */
async function endCommand(
  { root, onStuck }: CommandPlace,
  command: { readonly commandId: string; readonly pid: number | null },
): Promise<void> {
  const recorded =
    command.pid === null
      ? // Nobody knows whether it was started: its mark alone tells.
        [{ pid: null, startTime: '0', bootId: readBootId() }]
      : (await loadRecordedProcesses(root)).filter(({ pid }) => pid === command.pid).slice(-1);
  const marker = `ASSAY_COMMAND=${command.commandId}`;
  await endOwnedProcesses({ scope: 'command', marker, recorded, root }, onStuck);
}
