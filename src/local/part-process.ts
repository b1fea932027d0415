import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identifyProcess, isAlive } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { StackError, messageOf } from './stack-error.ts';

/** A background process of the stack: what to run, as whom, and where its output goes. */
export type PartCommand = {
  /** As messages call it: "Postgres", "the Temporal server", "the worker". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly logFile: string;
  readonly account?: { readonly uid: number; readonly gid: number } | null;
};

/** A started process, and where its own lines begin in its log. */
export type StartedPart = {
  readonly name: string;
  readonly process: ProcessIdentity;
  readonly logFile: string;
  readonly logOffset: number;
};

const maxLogBytes = 10 * 1024 * 1024;

/**
 * Starts a process in a session of its own (a terminal's Ctrl-C and hang-up miss it), output appended to its log.
 * Throws a StackError when the program cannot be started.
 */
export async function startPart(part: PartCommand): Promise<StartedPart> {
  const log = openLog(part.logFile);
  const logOffset = fstatSync(log).size;
  try {
    const child = spawn(part.command, part.args, {
      detached: true,
      cwd: part.cwd,
      env: part.environment,
      stdio: ['ignore', log, log],
      ...(part.account ? { uid: part.account.uid, gid: part.account.gid } : {}),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    const identity = child.pid === undefined ? null : identifyProcess(child.pid);
    const started = { name: part.name, logFile: part.logFile, logOffset };
    if (identity === null) throw new StackError(`${part.name} ended at once. ${describeLog(started)}`);
    return { ...started, process: identity };
  } catch (error) {
    if (error instanceof StackError) throw error;
    throw new StackError(`${part.name} could not be started: ${messageOf(error)}`, { cause: error });
  } finally {
    closeSync(log);
  }
}

/** What to wait for: `probe` throws until the part answers. */
export type Readiness<T> = { readonly probe: () => Promise<T>; readonly timeoutMs: number };

/** Waits until a started part answers. Throws a StackError with the end of its log when it dies or time runs out. */
export async function waitUntilReady<T>(part: StartedPart, { probe, timeoutMs }: Readiness<T>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await probe();
    } catch (error) {
      if (!isAlive(part.process)) {
        throw new StackError(`${part.name} ended while it was starting. ${describeLog(part)}`, {
          cause: error,
        });
      }
      if (Date.now() > deadline) {
        const waited = `${part.name} did not answer within ${Math.round(timeoutMs / 1000)} s (${messageOf(error)}).`;
        throw new StackError(`${waited} ${describeLog(part)}`, { cause: error });
      }
      await sleep(50);
    }
  }
}

/** The last lines that a part has written since it was started, at most 4 KiB of them. */
export function readLogTail({ logFile, logOffset }: Pick<StartedPart, 'logFile' | 'logOffset'>): string {
  if (!existsSync(logFile)) return '';
  const text = readFileSync(logFile).subarray(logOffset).subarray(-4096).toString('utf8');
  return text.trimEnd().split('\n').slice(-15).join('\n');
}

function describeLog(part: Pick<StartedPart, 'logFile' | 'logOffset'>): string {
  const tail = readLogTail(part);
  return tail === '' ? `Its log ${part.logFile} is empty.` : `The end of its log ${part.logFile}:\n${tail}`;
}

function openLog(logFile: string): number {
  mkdirSync(dirname(logFile), { recursive: true });
  if (existsSync(logFile) && statSync(logFile).size > maxLogBytes) renameSync(logFile, `${logFile}.1`);
  return openSync(logFile, 'a', 0o600);
}
