import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open, unlink, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { openCommandOutput, type CommandOutput, type OutputRequest } from './command-output.ts';
import { endOwnedProcesses } from './end-processes.ts';
import type { ExecRequest, ExecResult } from './environment.ts';
import type { OutputPipes } from './output-pipe.ts';
import { readBootId } from './process-table.ts';
import { loadRecordedProcesses, recordBeforeStart, recordStart } from './process-record.ts';

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
type End =
  | { readonly kind: 'exit'; readonly exitCode: number | null; readonly signal: string | null }
  | { readonly kind: 'spawn_error'; readonly message: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'abort' };

/** A command that it left behind may hold the pipe for ever; what was written before is read in this time. */
const DRAIN_MS = 100;

/** Runs one command to its end, its limit, or the abort, whichever comes first. */
export async function runCommand(
  request: CommandRequest,
  place: CommandPlace,
  signal: AbortSignal,
): Promise<ExecResult> {
  signal.throwIfAborted();
  recordBeforeStart(place.root);
  const bootId = readBootId();
  await using stdinFile = request.stdin === null ? null : await openStdin(place.root, request.stdin);
  const output = await openCommandOutput(place.pipes, request);

  const startedAt = performance.now();
  const commandId = randomUUID();
  const argv = place.wrap?.(request.argv, `ASSAY_COMMAND=${commandId}`) ?? request.argv;
  const started = startChild({
    request: { ...request, argv },
    commandId,
    stdinFd: stdinFile?.fd ?? null,
    output,
  });
  const exited = waitForExit(started);
  const pid = started.child?.pid;
  if (pid !== undefined) await recordOrKill(place.root, { pid, bootId });

  const first = await waitForEnd(exited, request.timeoutMs, signal);
  if (first.kind === 'timeout' || first.kind === 'abort') await endCommand(place, { commandId, pid });
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

/** A file instead of a pipe: a command that never reads, or stops early, breaks nothing. */
async function openStdin(
  directory: string,
  content: string | AsyncIterable<Uint8Array>,
): Promise<FileHandle> {
  const path = join(directory, `stdin-${randomUUID()}`);
  await writeFile(path, content, { mode: 0o600 });
  const file = await open(path, 'r');
  await unlink(path);
  return file;
}

type Started = { readonly child: ChildProcess | null; readonly problem: string | null };

function startChild(start: {
  readonly request: CommandRequest;
  readonly commandId: string;
  readonly stdinFd: number | null;
  readonly output: CommandOutput;
}): Started {
  const { request, output } = start;
  const [program = '', ...args] = request.argv;
  try {
    const child = spawn(program, args, {
      cwd: request.cwd,
      env: { ...request.variables, ASSAY_COMMAND: start.commandId },
      detached: true,
      stdio: [start.stdinFd ?? 'ignore', ...output.writerFds],
    });
    return { child, problem: null };
  } catch (error) {
    // Node throws for some faults of the start, such as arguments that are too long or hold a zero byte.
    return { child: null, problem: (error as Error).message };
  } finally {
    output.closeWriters();
  }
}

function waitForExit({ child, problem }: Started): Promise<End> {
  if (child === null) return Promise.resolve({ kind: 'spawn_error', message: problem ?? 'not started' });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ kind: 'spawn_error', message: error.message }));
    child.once('exit', (exitCode, signal) => resolve({ kind: 'exit', exitCode, signal }));
  });
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

/** A command that cannot be found again after a crash may not run. */
async function recordOrKill(root: string, started: { pid: number; bootId: string }): Promise<void> {
  try {
    await recordStart(root, started);
  } catch (error) {
    process.kill(-started.pid, 'SIGKILL');
    throw error;
  }
}

/** Only what this command started: servers that earlier ones left running stay. */
async function endCommand(
  { root, onStuck }: CommandPlace,
  command: { readonly commandId: string; readonly pid: number | undefined },
): Promise<void> {
  const recorded = (await loadRecordedProcesses(root)).filter(({ pid }) => pid === command.pid).slice(-1);
  const marker = `ASSAY_COMMAND=${command.commandId}`;
  await endOwnedProcesses({ scope: 'command', marker, recorded, root }, onStuck);
}
