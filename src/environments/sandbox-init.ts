import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { SANDBOX_INIT } from './bubblewrap-arguments.ts';
import { findProcess, readBootId } from './process-table.ts';

/** Process 1 of a sandbox as this host sees it. While it lives the sandbox does. */
export type SandboxInit = { readonly pid: number; readonly startTime: string; readonly bootId: string };

const RECORD = 'sandbox.json';
const START_LIMIT_MS = 20_000;

/** The recorded process 1 of a session, by whatever worker it was started; null when it does not live. */
export async function findInit(root: string): Promise<SandboxInit | null> {
  const recorded = loadInit(root);
  return recorded !== null && (await isAlive(recorded)) ? recorded : null;
}

/** Whether a sandbox was ever started for this session. */
export const hadInit = (root: string): boolean => loadInit(root) !== null;

export async function isAlive(init: SandboxInit): Promise<boolean> {
  if (init.bootId !== readBootId()) return false;
  return (await findProcess(init.pid))?.startTime === init.startTime;
}

/** Starts `bwrap` and returns when the sandbox is whole. Throws with what it said when it is not. */
export async function startInit(start: {
  readonly bwrap: string;
  readonly args: readonly string[];
  readonly root: string;
}): Promise<SandboxInit> {
  const child = spawn(start.bwrap, ['--json-status-fd', '3', ...start.args, '--', ...SANDBOX_INIT], {
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  try {
    const pid = await waitForReady(child);
    const found = await findProcess(pid);
    if (found === null) throw new Error('its first process ended at once');
    const init = { pid, startTime: found.startTime, bootId: readBootId() };
    saveInit(start.root, init);
    child.unref();
    for (const stream of child.stdio) stream?.destroy();
    return init;
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`The sandbox did not start: ${(error as Error).message}`, { cause: error });
  }
}

async function waitForReady(child: ChildProcess): Promise<number> {
  const said = { out: '', error: '', status: '' };
  const status = child.stdio[3] as Readable;
  const ready = Promise.withResolvers<number>();
  const look = (): void => {
    const pid = /"child-pid": (\d+)/.exec(said.status)?.[1];
    if (said.out.includes('ready') && pid !== undefined) ready.resolve(Number(pid));
  };
  child.stdout?.on('data', (chunk: Buffer) => ((said.out += chunk.toString('utf8')), look()));
  status.on('data', (chunk: Buffer) => ((said.status += chunk.toString('utf8')), look()));
  child.stderr?.on('data', (chunk: Buffer) => (said.error += chunk.toString('utf8')));
  child.once('error', (error) => ready.reject(error));
  child.once('close', () => ready.reject(new Error(said.error.trim() || 'bwrap ended')));
  const timer = setTimeout(
    () => ready.reject(new Error(`not ready after ${START_LIMIT_MS} ms`)),
    START_LIMIT_MS,
  );
  try {
    return await ready.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends process 1, and with it, by the kernel, all that the sandbox runs. Returns when it is gone. */
export async function endInit(root: string): Promise<void> {
  for (let waitMs = 2; ; waitMs = Math.min(100, waitMs * 2)) {
    const init = await findInit(root);
    if (init === null) return;
    try {
      process.kill(init.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await delay(waitMs);
  }
}

/** Runs a program to its end and returns its exit code; for the chores around a sandbox. */
export async function runChore(argv: readonly string[]): Promise<number | null> {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' }, cwd: '/' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/** Written beside and renamed: another worker reads the old one or the new one. */
function saveInit(root: string, init: SandboxInit): void {
  const path = join(root, RECORD);
  writeFileSync(`${path}.new`, JSON.stringify(init), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function loadInit(root: string): SandboxInit | null {
  try {
    const value = JSON.parse(readFileSync(join(root, RECORD), 'utf8')) as Partial<SandboxInit> | null;
    if (typeof value?.pid !== 'number' || typeof value.startTime !== 'string') return null;
    return { pid: value.pid, startTime: value.startTime, bootId: value.bootId ?? '' };
  } catch {
    return null;
  }
}
