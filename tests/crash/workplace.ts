import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stopStack } from '../../src/local/stop-stack.ts';
import { plainEnvironment } from '../local/stack-options.ts';
import { startEndpoint, type Endpoint } from './endpoint-process.ts';
import { findProcesses } from './processes.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/assay', import.meta.url));

export type Ended = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

/** A command of the user that runs in a process of its own. */
export type Command = {
  readonly process: ChildProcess;
  readonly isRunning: () => boolean;
  readonly ended: Promise<Ended>;
};

/** A project folder with a data folder of its own, the real `assay` command, and an endpoint to call. */
export type Workplace = {
  readonly folder: string;
  readonly dataDir: string;
  readonly endpoint: Endpoint;
  readonly writeRunFile: (document: unknown) => string;
  /** Starts a command as a user would. */
  readonly start: (...args: readonly string[]) => Command;
  /** As `start`, with variables of its own. */
  readonly startWith: (variables: { readonly [name: string]: string }, ...args: readonly string[]) => Command;
  /** Runs a command to its end. */
  readonly assay: (...args: readonly string[]) => Promise<Ended>;
  /** Ends everything that was started here, whatever state it is in, and removes the folder. */
  readonly remove: () => Promise<void>;
};

export async function createWorkplace(
  latencyMs: readonly [number, number],
  /** Beside the few variables that every command gets. */
  variables: { readonly [name: string]: string } = {},
): Promise<Workplace> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assay-crash-')));
  chmodSync(folder, 0o755);
  const dataDir = join(folder, '.assay');
  const endpoint = await startEndpoint(join(folder, 'endpoint.jsonl'), latencyMs);
  const commands: Command[] = [];
  const startWith: Workplace['startWith'] = (own, ...args) => {
    const command = startCommand(args, {
      cwd: folder,
      env: plainEnvironment({ ASSAY_DIR: dataDir, CI: 'true', ...variables, ...own }),
    });
    commands.push(command);
    return command;
  };
  const start: Workplace['start'] = (...args) => startWith({}, ...args);
  return {
    folder,
    dataDir,
    endpoint,
    start,
    startWith,
    writeRunFile: (document) => {
      const path = join(folder, 'run.json');
      writeFileSync(path, JSON.stringify(document));
      return path;
    },
    assay: (...args) => start(...args).ended,
    remove: async () => {
      for (const { process: child } of commands) child.kill('SIGKILL');
      await stopStack(dataDir, { drainMs: 1_000 }).catch(() => undefined);
      await endLeftOver(dataDir);
      await endpoint.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The last lines of every log, for a trial that failed. */
export function describeTrouble({ dataDir }: Pick<Workplace, 'dataDir'>): readonly string[] {
  return ['worker', 'temporal', 'postgres'].map((part) => {
    const lines = readLog(join(dataDir, 'logs', `${part}.log`))
      .trimEnd()
      .split('\n');
    return `end of the log of ${part}:\n${lines.slice(-8).join('\n').slice(-2_000)}`;
  });
}

function readLog(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function startCommand(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Command {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const child = spawn(LAUNCHER, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  child.on('error', reject).on('close', (exitCode) => resolve({ exitCode, ...texts }));
  return {
    process: child,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    ended: promise,
  };
}

/** What names the data folder was started by this workplace: nobody else knows its random name. */
async function endLeftOver(dataDir: string): Promise<void> {
  for (let look = 0; look < 50; look += 1) {
    const left = findProcesses(dataDir);
    if (left.length === 0) return;
    for (const { pid } of left) endNow(pid);
    await sleep(100);
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
