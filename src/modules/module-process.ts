import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createBoundedOutput, type BoundedOutput } from './bounded-output.ts';
import { readChildVariables } from './child-variables.ts';
import type {
  CallMessage,
  ChildMessage,
  ErrorFacts,
  ModuleDescription,
  ParentMessage,
} from './child-messages.ts';
import { endGroup, MARKER } from './end-group.ts';
import { formatError } from './error-facts.ts';
import { watchMemory } from './memory-watch.ts';
import { ModuleError } from './module-error.ts';

/** A module to run: its code, and the file in its project that it stands for. */
export type LoadableModule = {
  readonly code: string;
  readonly digest: string;
  readonly path: string;
  readonly projectDir: string;
  readonly exportName: string;
};

export type ProcessSettings = {
  readonly memoryMiB: number;
  readonly loadTimeoutMs: number;
  readonly describe: boolean;
  /** Each line that the module prints, bounded. */
  readonly onOutput: (line: string) => void;
};

/** How a call ended. `crashed` and `timeout` also end the process. */
export type CallEnd = { readonly measuredMs: number } & (
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly error: ErrorFacts }
  | { readonly kind: 'crashed'; readonly message: string }
  | { readonly kind: 'timeout' }
);

export type CallLimits = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Other calls run beside it: only one that does not hear its cancel ends the process. */
  readonly shared?: boolean;
};

/** After a time-out or a cancel the code may end what it started itself. */
const OWN_END_MS = 1_000;

/** One process with one module in it, which makes one call at a time. */
export class ModuleProcess {
  readonly description: ModuleDescription | null;
  private readonly parts: Started;
  private usable = true;
  private heapBytes = 0;
  private calls = 0;

  private constructor(parts: Started, description: ModuleDescription | null) {
    this.parts = parts;
    this.description = description;
    void parts.gone.then(() => (this.usable = false));
  }

  /** Starts a process and loads the module. Throws a ModuleError that names the module and what is wrong. */
  static async start(module: LoadableModule, settings: ProcessSettings): Promise<ModuleProcess> {
    if (!existsSync(module.projectDir)) {
      throw new ModuleError(
        `the project of "${module.path}" is not here: there is no folder ${module.projectDir}; start the worker with --project DIR, the folder that holds the run file's packages`,
      );
    }
    const parts = startChild(module, settings);
    try {
      return new ModuleProcess(parts, await load(parts, module, settings));
    } catch (error) {
      await parts.end();
      throw error;
    }
  }

  /** Whether it can take another call: alive, and its memory is not half full of leftovers. */
  get isUsable(): boolean {
    return this.usable && this.heapBytes < (this.parts.memoryMiB * 1024 * 1024) / 2;
  }

  /** Throws the signal's reason when it aborts; the process has ended then. */
  async call(message: CallMessage, { timeoutMs, signal, shared = false }: CallLimits): Promise<CallEnd> {
    const { parts } = this;
    const id = (this.calls += 1);
    parts.output.reset();
    const startedMs = performance.now();
    const memory = watchMemory(parts.pid, parts.memoryMiB);
    const stopped = Promise.withResolvers<'timeout' | 'abort'>();
    const timer = setTimeout(() => stopped.resolve('timeout'), timeoutMs);
    const onAbort = (): void => stopped.resolve('abort');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const answer = parts.next((said) => said.kind === 'broken' || ('id' in said && said.id === id));
    parts.tell({ kind: 'call', id, call: message });
    try {
      const first = await Promise.race([answer, stopped.promise]);
      const measuredMs = performance.now() - startedMs;
      if (typeof first === 'object')
        return await this.settle(first, { measuredMs, memory: memory.exceeded() });
      parts.tell({ kind: 'abort', id, reason: first === 'abort' ? 'cancelled' : 'time-out' });
      const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), OWN_END_MS).unref());
      const heard = (await Promise.race([answer, late])) !== null;
      if (!shared || !heard) await this.end();
      signal.throwIfAborted();
      return { kind: 'timeout', measuredMs };
    } finally {
      clearTimeout(timer);
      memory.stop();
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async settle(message: ChildMessage, { measuredMs, memory }: Measured): Promise<CallEnd> {
    if (message.kind === 'answered' || message.kind === 'failed') {
      this.heapBytes = message.heapBytes;
      return message.kind === 'answered'
        ? { kind: 'answered', answer: message.answer, measuredMs }
        : { kind: 'failed', error: message.error, measuredMs };
    }
    await this.end();
    if (message.kind === 'broken') {
      const why = `an error that nothing caught: ${formatError(message.error)}`;
      return { kind: 'crashed', message: why, measuredMs };
    }
    const why = memory ?? explainExit(this.parts, await this.parts.gone);
    return { kind: 'crashed', message: why, measuredMs };
  }

  /** Ends the process and everything that it started. */
  async end(): Promise<void> {
    this.usable = false;
    await this.parts.end();
  }
}

type Measured = { readonly measuredMs: number; readonly memory: string | null };

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

type Started = {
  readonly pid: number;
  readonly memoryMiB: number;
  readonly output: BoundedOutput;
  readonly gone: Promise<Exit>;
  readonly tell: (message: ParentMessage) => void;
  /** The next message, or word that there will be none. */
  readonly next: (wanted: (message: ChildMessage) => boolean) => Promise<ChildMessage>;
  readonly end: () => Promise<void>;
};

/** Stands for the message of a process that is gone. */
const GONE: ChildMessage = { kind: 'loaded', description: null };

function startChild(module: LoadableModule, settings: ProcessSettings): Started {
  const mark = randomUUID();
  const child = spawn(process.execPath, toArguments(settings.memoryMiB), {
    cwd: module.projectDir,
    env: { ...readChildVariables(), [MARKER]: mark },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // Calls of models run side by side, each with a listener.
  child.setMaxListeners(0);
  const output = createBoundedOutput(settings.onOutput);
  child.stdout?.on('data', output.add);
  child.stderr?.on('data', output.add);
  const gone = new Promise<Exit>((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  return {
    pid: pid ?? 0,
    memoryMiB: settings.memoryMiB,
    output,
    gone,
    tell: (message) => void (child.connected && child.send(message, () => undefined)),
    next: (wanted) => nextMessage({ child, gone, wanted }),
    end: async () => {
      if (pid !== undefined) await endGroup(pid, mark);
      await gone;
      if (child.connected) child.disconnect();
    },
  };
}

function toArguments(memoryMiB: number): readonly string[] {
  // The published package holds JavaScript under the same name.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const entry = fileURLToPath(new URL(`./child-entry.${extension}`, import.meta.url));
  return [
    `--max-old-space-size=${memoryMiB}`,
    '--enable-source-maps',
    '--disable-warning=ExperimentalWarning',
    entry,
  ];
}

type Waiting = {
  readonly child: ChildProcess;
  readonly gone: Promise<Exit>;
  readonly wanted: (message: ChildMessage) => boolean;
};

function nextMessage({ child, gone, wanted }: Waiting): Promise<ChildMessage> {
  const { promise, resolve } = Promise.withResolvers<ChildMessage>();
  const onMessage = (message: unknown): void => {
    if (wanted(message as ChildMessage)) resolve(message as ChildMessage);
  };
  child.on('message', onMessage);
  // What the process said before its end arrives first.
  void gone.then(() => setTimeout(() => resolve(GONE), 50));
  return promise.finally(() => child.off('message', onMessage));
}

async function load(
  parts: Started,
  module: LoadableModule,
  { loadTimeoutMs, describe }: ProcessSettings,
): Promise<ModuleDescription | null> {
  const { code, path, projectDir, exportName, digest } = module;
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const ownUrl = new URL(`./run-file-entry.${extension}`, import.meta.url).href;
  const url = `${pathToFileURL(join(projectDir, path)).href}?assay=${digest.slice(0, 12)}`;
  const answer = parts.next(() => true);
  parts.tell({ kind: 'load', code, url, exportName, ownUrl, describe });
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => late.resolve('late'), loadTimeoutMs);
  const message = await Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
  if (message === 'late') {
    const limit = `${loadTimeoutMs / 1000} s`;
    throw new ModuleError(`loading it took longer than ${limit}: move slow work out of its top level`);
  }
  if (message === GONE) {
    throw new ModuleError(
      `its process ended while it was being loaded: ${explainExit(parts, await parts.gone)}`,
    );
  }
  if (message.kind === 'broken') throw new ModuleError(formatError(message.error), message.error);
  if (message.kind !== 'loaded') throw new ModuleError(`its process answered "${message.kind}"`);
  return message.description;
}

function explainExit({ output, memoryMiB }: Started, exit: Exit | null): string {
  const printed = output.tail();
  if (printed.includes('heap out of memory')) {
    return `it used more memory than its limit of ${memoryMiB} MiB and was ended`;
  }
  const how =
    exit?.signal !== null && exit?.signal !== undefined
      ? `its process was ended by ${exit.signal}`
      : `its process exited with code ${exit?.code ?? 'unknown'} in the middle of the call`;
  const last = printed.trim().split('\n').slice(-5).join('\n');
  return last === '' ? how : `${how}; it had printed: ${last.slice(-600)}`;
}
