import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import type { LauncherAnswer, LauncherRequest, LaunchRequest } from './launcher-messages.ts';
import { recordStart } from './process-record.ts';

/** The program of the launcher. It ends with the process that started it; commands that run are left to the reaper. */
process.on('disconnect', () => process.exit(0));
process.on('message', (request) => void handle(request as LauncherRequest));

const answer = (value: LauncherAnswer): void => {
  if (process.connected) process.send?.(value);
};

async function handle(request: LauncherRequest): Promise<void> {
  const { id } = request;
  try {
    if (request.kind === 'launch') return await launch(id, request.launch);
    await makePipes(request.paths);
    answer({ id, kind: 'done' });
  } catch (error) {
    answer({ id, kind: 'failed', message: (error as Error).message });
  }
}

async function launch(id: number, request: LaunchRequest): Promise<void> {
  const child = start(request);
  if (typeof child === 'string')
    return answer({ id, kind: 'ended', end: { kind: 'spawn_error', message: child } });
  child.once('error', ({ message }) => answer({ id, kind: 'ended', end: { kind: 'spawn_error', message } }));
  child.once('exit', (exitCode, signal) =>
    answer({ id, kind: 'ended', end: { kind: 'exit', exitCode, signal } }),
  );
  const { pid } = child;
  if (pid === undefined) return;
  await recordOrKill(request, pid);
  answer({ id, kind: 'started', pid });
}

/** The process, or why there is none: Node throws for some faults, such as arguments that are too long. */
function start({ argv, cwd, variables, stdinPath, outputPaths }: LaunchRequest): ChildProcess | string {
  const [program = '', ...args] = argv;
  const [outputPath, errorPath] = outputPaths;
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  try {
    const stdin = stdinPath === null ? 'ignore' : open(stdinPath, constants.O_RDONLY);
    const openPipe = (path: string): number => {
      // Without a reader, whose process has ended, an open that blocks would wait for ever: this one fails then.
      open(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return open(path, constants.O_WRONLY);
    };
    const output = openPipe(outputPath);
    const errorOutput = errorPath === outputPath ? output : openPipe(errorPath);
    return spawnOrSay(() =>
      spawn(program, args, { cwd, env: variables, detached: true, stdio: [stdin, output, errorOutput] }),
    );
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function spawnOrSay(run: () => ChildProcess): ChildProcess | string {
  try {
    return run();
  } catch (error) {
    return (error as Error).message;
  }
}

/** A command that cannot be found again after a crash may not run. */
async function recordOrKill({ root, bootId }: LaunchRequest, pid: number): Promise<void> {
  try {
    await recordStart({ root, bootId }, pid);
  } catch (error) {
    process.kill(-pid, 'SIGKILL');
    throw error;
  }
}

function makePipes(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C' };
    execFile('mkfifo', ['-m', '600', ...paths], { env }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
