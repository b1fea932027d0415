import type { Duplex } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { CapturedOutput } from './captured-output.ts';
import { isStatus } from './docker-images.ts';
import { FrameReader } from './docker-stream.ts';
import { SessionLostError } from './environment.ts';
import type { ExecRequest, ExecResult } from './environment.ts';
import type { SandboxStream } from './sandbox-files.ts';

export type ContainerCommand = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly variables: { readonly [name: string]: string };
  /** As the image says unless given. */
  readonly user?: string;
};

type Running = { readonly exec: Docker.Exec; readonly socket: Duplex; readonly frames: FrameReader };

/** What was written before the end is read in this time; a descendant may hold the output for ever. */
const DRAIN_MS = 100;
const FIRST_LOOK_MS = 20;
const LOOK_MS = 200;

/** A shell says 126 and 127. */
const APART = 'cd -- "$1" || exit 126; shift; exec "$@"';
/** Both outputs through one pipe, so that they stay in order. */
const IN_ORDER = `${APART} 2>&1`;

async function start(
  container: Docker.Container,
  command: ContainerCommand,
  options: { readonly stdin: boolean; readonly onError: (chunk: Buffer) => void },
): Promise<Running> {
  try {
    const exec = await container.exec({
      Cmd: [...command.argv],
      Env: Object.entries(command.variables).map(([name, value]) => `${name}=${value}`),
      AttachStdin: options.stdin,
      AttachStdout: true,
      AttachStderr: true,
      ...(command.user === undefined ? {} : { User: command.user }),
    });
    const socket = await exec.start({ hijack: true, stdin: options.stdin });
    const frames = new FrameReader(options.onError);
    socket.on('error', () => frames.end()).pipe(frames);
    return { exec, socket, frames };
  } catch (error) {
    if (isStatus(error, 404, 409))
      throw new SessionLostError('The container of the session is gone.', { cause: error });
    throw error;
  }
}

/** Runs a small program to its end; its output is read as fast as the reader takes it. */
export async function startInContainer(
  container: Docker.Container,
  command: ContainerCommand,
  stdin: AsyncIterable<Uint8Array> | null,
): Promise<SandboxStream> {
  let errorText = '';
  const onError = (chunk: Buffer): void =>
    void (errorText = (errorText + chunk.toString('utf8')).slice(0, 4_000));
  const { exec, socket, frames } = await start(container, command, { stdin: stdin !== null, onError });
  // A program that stops reading says why by its exit code.
  const given =
    stdin === null ? null : pipeline(Readable.from(stdin), socket).catch((error: unknown) => error);
  const over = new Promise<void>((resolve) => {
    socket
      .once('close', resolve)
      .once('end', resolve)
      .once('error', () => resolve());
  });
  const ended = over.then(async () => {
    const exitCode = await waitForExit(exec);
    const fault = await given;
    if (exitCode === 0 && fault instanceof Error) throw fault;
    return { exitCode, errorText };
  });
  return { stdout: frames, ended };
}

/** Runs a small program and returns its exit code and output. */
export async function runInContainer(
  container: Docker.Container,
  command: ContainerCommand,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const { stdout, ended } = await startInContainer(container, command, null);
  const chunks: Buffer[] = [];
  for await (const chunk of stdout) chunks.push(chunk as Buffer);
  const { exitCode, errorText } = await ended;
  return { exitCode, output: Buffer.concat(chunks).toString('utf8') + errorText };
}

/** How a wait for a command ended. */
type End = 'exit' | 'timeout' | 'abort';

/** Runs a command to its end, its limit, or the abort; `endCommand` ends all that it started. */
export async function execInContainer(
  container: Docker.Container,
  running: {
    readonly command: ContainerCommand;
    readonly request: ExecRequest;
    readonly keepBytes: number;
    readonly endCommand: () => Promise<void>;
  },
  signal: AbortSignal,
): Promise<ExecResult> {
  const { command, request } = running;
  const output = new CapturedOutput(running.keepBytes);
  const collect = (chunk: Buffer): void => {
    output.add(chunk);
    request.onOutput?.(chunk);
  };
  const script = request.onErrorOutput === undefined ? IN_ORDER : APART;
  const argv = ['/bin/sh', '-c', script, 'assay', command.cwd, ...command.argv];
  const stdin = request.stdin !== null;
  const startedAt = performance.now();
  const { exec, socket, frames } = await start(
    container,
    { ...command, argv },
    { stdin, onError: request.onErrorOutput ?? collect },
  );
  frames.on('data', collect);
  if (request.stdin !== null) feed(socket, request.stdin);
  const drained = new Promise<void>((resolve) => frames.once('end', resolve));
  const stopLooking = new AbortController();
  const exited = waitForExit(exec, drained, stopLooking.signal);
  const end = await waitForEnd(exited, request.timeoutMs, signal);
  if (end !== 'exit') await running.endCommand();
  const exitCode =
    end === 'exit' ? await exited : await Promise.race([exited, delay(2_000, null, { ref: false })]);
  stopLooking.abort();
  await Promise.race([drained, delay(DRAIN_MS)]);
  frames.off('data', collect);
  // Nobody reads on: the engine throws away what a server that was left behind writes.
  socket.destroy();
  if (end === 'abort') signal.throwIfAborted();
  return {
    exitCode: end === 'timeout' ? null : exitCode,
    signal: end === 'timeout' ? 'SIGKILL' : null,
    timedOut: end === 'timeout',
    spawnError: null,
    output: output.toText(),
    outputBytes: output.totalBytes,
    durationMs: Math.round(performance.now() - startedAt),
    exceeded: null,
  };
}

/** A command that never reads, or stops early, breaks nothing. */
function feed(socket: Duplex, stdin: string | AsyncIterable<Uint8Array>): void {
  const content = typeof stdin === 'string' ? [Buffer.from(stdin, 'utf8')] : stdin;
  pipeline(Readable.from(content), socket).catch(() => undefined);
}

async function waitForEnd(exited: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const timer = setTimeout(() => resolve('timeout'), timeoutMs);
  const onAbort = (): void => resolve('abort');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([exited.then((): End => 'exit'), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The end of the output tells it at once; where a descendant holds the output, the engine is asked again and
 * again. Throws a `SessionLostError` when the engine does not know the command any more.
 */
async function waitForExit(
  exec: Docker.Exec,
  hint: Promise<void> = Promise.resolve(),
  signal?: AbortSignal,
): Promise<number | null> {
  let waitMs = FIRST_LOOK_MS;
  await Promise.race([hint, delay(FIRST_LOOK_MS)]);
  let hinted = hint.then(() => 'hint' as const);
  while (signal?.aborted !== true) {
    const { Running, ExitCode } = await inspect(exec);
    if (!Running && ExitCode !== null) return ExitCode;
    const first = await Promise.race([hinted, delay(waitMs, 'time' as const)]);
    // Once the output has ended the exit is near: look in short steps.
    if (first === 'hint') hinted = delay(5, 'hint' as const);
    waitMs = Math.min(LOOK_MS, waitMs * 2);
  }
  return null;
}

async function inspect(exec: Docker.Exec): Promise<Docker.ExecInspectInfo> {
  try {
    return await exec.inspect();
  } catch (error) {
    if (isStatus(error, 404))
      throw new SessionLostError('The container of the session is gone.', { cause: error });
    throw error;
  }
}
