import { spawn, type ChildProcess } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LauncherAnswer, LauncherRequest, LaunchEnd, LaunchRequest } from './launcher-messages.ts';

/** `lost`: the launcher died; whether the command ran, and how it ended, is not known. */
export type CommandEnd = LaunchEnd | { readonly kind: 'lost' };

/** `pid` is null where nothing was started, or nobody knows. */
export type Launched = { readonly pid: number | null; readonly exited: Promise<CommandEnd> };

/**
 * Starts a command. A small process does it: a start copies the page tables of whoever starts, which in a worker of
 * 400 MB takes ten times as long, and holds up everything else that the worker does.
 * @throws Error when the start could not be recorded; nothing runs then.
 */
export async function launchCommand(launch: LaunchRequest): Promise<Launched> {
  const started = Promise.withResolvers<Launched>();
  const exited = Promise.withResolvers<CommandEnd>();
  const settle = (end: CommandEnd): void => {
    exited.resolve(end);
    started.resolve({ pid: null, exited: exited.promise });
  };
  ask({ kind: 'launch', launch }, (answer) => {
    switch (answer.kind) {
      case 'started':
        started.resolve({ pid: answer.pid, exited: exited.promise });
        return 'waits';
      case 'failed':
        started.reject(new Error(answer.message));
        return 'over';
      case 'ended':
      case 'lost':
        settle(answer.kind === 'lost' ? answer : answer.end);
        return 'over';
      case 'done':
        return 'over';
    }
  });
  return started.promise;
}

/** Makes named pipes with mode 600. */
export function makePipes(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    ask({ kind: 'pipes', paths }, (answer) => {
      if (answer.kind === 'done') resolve();
      else reject(new Error(answer.kind === 'failed' ? answer.message : 'the launcher of commands was lost'));
      return 'over';
    });
  });
}

type Listener = (answer: LauncherAnswer | { readonly kind: 'lost' }) => 'waits' | 'over';
type Launcher = { readonly process: ChildProcess; readonly listeners: Map<number, Listener> };
/** A request before it has its number. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

let current: Launcher | null = null;
let lastId = 0;

/** One that has not answered by then hangs: it is ended, and the next request starts another. */
const ANSWERS_WITHIN_MS = 60_000;

function ask(request: Unnumbered<LauncherRequest>, listener: Listener): void {
  current ??= startLauncher();
  const { process: child, listeners } = current;
  lastId += 1;
  const id = lastId;
  let answered = false;
  const onSilence = async (): Promise<void> => {
    // A worker that was stopped for a while hears of answers after its timer: two turns let them be heard first.
    await setImmediate();
    await setImmediate();
    if (!answered) child.kill('SIGKILL');
  };
  const silence = setTimeout(() => void onSilence(), ANSWERS_WITHIN_MS);
  listeners.set(id, (answer) => {
    answered = true;
    clearTimeout(silence);
    return listener(answer);
  });
  child.channel?.ref();
  // A launcher that has died hears nothing; its end tells the listener.
  child.send({ ...request, id }, () => undefined);
}

function startLauncher(): Launcher {
  // The published package holds JavaScript under the same name.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`./launcher-entry.${extension}`, import.meta.url));
  // Apart from the terminal's group, and without the worker's variables, which may hold keys.
  const child = spawn(process.execPath, [entry], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const launcher: Launcher = { process: child, listeners: new Map() };
  child.on('message', (message) => hear(launcher, message as LauncherAnswer));
  child.once('error', () => lose(launcher)).once('exit', () => lose(launcher));
  child.unref();
  return launcher;
}

function hear({ process: child, listeners }: Launcher, answer: LauncherAnswer): void {
  if (listeners.get(answer.id)?.(answer) === 'over') listeners.delete(answer.id);
  // Nobody waits: it does not hold this process open.
  if (listeners.size === 0) child.channel?.unref();
}

function lose(launcher: Launcher): void {
  if (current === launcher) current = null;
  const listeners = [...launcher.listeners.values()];
  launcher.listeners.clear();
  for (const listener of listeners) listener({ kind: 'lost' });
}
