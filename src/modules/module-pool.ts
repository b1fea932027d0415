import type { RunModule } from '../domain/run-module.ts';
import type { CallMessage } from './child-messages.ts';
import { ModuleError } from './module-error.ts';
import { ModuleProcess, type CallEnd } from './module-process.ts';
import { SharedProcesses } from './shared-processes.ts';
import { Slots } from './slots.ts';

export type PoolOptions = {
  /** The bytes of a bundle by its digest. */
  readonly loadCode: (digest: string) => Promise<Uint8Array>;
  /** Folder that packages resolve from; null = the one that each run recorded. */
  readonly projectDir: string | null;
  readonly onOutput: (path: string, line: string) => void;
};

/** Processes of all modules together; each makes one call at a time. */
export const MAX_PROCESSES = 8;
const MEMORY_MIB = 256;
const LOAD_TIMEOUT_MS = 30_000;
const IDLE_MS = 60_000;

type Idle = { readonly key: string; readonly process: ModuleProcess; readonly timer: NodeJS.Timeout };

/** The processes that run the code of run files, kept for the next call while they are sound. */
export class ModulePool {
  private readonly options: PoolOptions;
  private readonly slots = new Slots(MAX_PROCESSES);
  private readonly busy = new Set<ModuleProcess>();
  private readonly shared = new SharedProcesses((module) => this.start(module));
  private idle: readonly Idle[] = [];

  constructor(options: PoolOptions) {
    this.options = options;
  }

  /** One call; waits for a free process first. Throws a ModuleError when the module cannot be loaded here. */
  async call(
    module: RunModule,
    message: CallMessage,
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<CallEnd> {
    return await this.withProcess(module, limits.signal, (process) => process.call(message, limits));
  }

  /** One call that waits rather than works, beside others of its module. It has a time limit of its own. */
  callShared(module: RunModule, message: CallMessage, signal: AbortSignal): Promise<CallEnd> {
    return this.shared.call(module, message, signal);
  }

  /** Whether the module can be loaded here. Throws the ModuleError that says why not. */
  async check(module: RunModule, signal: AbortSignal): Promise<void> {
    await this.withProcess(module, signal, async () => undefined);
  }

  /** Ends every process. */
  async stop(): Promise<void> {
    const idle = this.idle;
    this.idle = [];
    for (const { timer } of idle) clearTimeout(timer);
    const owned = [...idle.map(({ process }) => process), ...this.busy];
    await Promise.all([this.shared.stop(), ...owned.map((one) => one.end())]);
  }

  private async withProcess<T>(
    module: RunModule,
    signal: AbortSignal,
    work: (process: ModuleProcess) => Promise<T>,
  ): Promise<T> {
    const free = await this.slots.take(signal);
    try {
      const process = (await this.reuse(toKey(module))) ?? (await this.start(module));
      this.busy.add(process);
      try {
        return await work(process);
      } finally {
        this.busy.delete(process);
        await this.keep(toKey(module), process);
      }
    } finally {
      free();
    }
  }

  /** An idle process of this module; where all places are taken, one of another module makes room. */
  private async reuse(key: string): Promise<ModuleProcess | null> {
    const found = this.idle.findLast((one) => one.key === key) ?? null;
    const full = this.idle.length + this.busy.size >= MAX_PROCESSES;
    const leaving = found ?? (full ? (this.idle[0] ?? null) : null);
    if (leaving === null) return null;
    clearTimeout(leaving.timer);
    this.idle = this.idle.filter((one) => one !== leaving);
    if (found?.process.isUsable === true) return found.process;
    await leaving.process.end();
    return null;
  }

  private async start(module: RunModule): Promise<ModuleProcess> {
    const { digest, path, exportName } = module;
    const projectDir = this.options.projectDir ?? module.projectDir;
    const code = module.code ?? new TextDecoder().decode(await this.options.loadCode(digest));
    try {
      return await ModuleProcess.start(
        { code, digest, path, projectDir, exportName },
        {
          memoryMiB: MEMORY_MIB,
          loadTimeoutMs: LOAD_TIMEOUT_MS,
          describe: false,
          onOutput: (line) => this.options.onOutput(path, line),
        },
      );
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      throw new ModuleError(`"${path}" cannot be loaded on this worker: ${explain(error, projectDir)}`);
    }
  }

  private async keep(key: string, process: ModuleProcess): Promise<void> {
    if (!process.isUsable) return await process.end();
    const timer = setTimeout(() => {
      this.idle = this.idle.filter((one) => one.process !== process);
      void process.end();
    }, IDLE_MS);
    this.idle = [...this.idle, { key, process, timer: timer.unref() }];
  }
}

const toKey = ({ digest, projectDir, path }: RunModule): string => JSON.stringify([digest, projectDir, path]);

const explain = ({ message, facts }: ModuleError, projectDir: string): string =>
  facts?.code === 'ERR_MODULE_NOT_FOUND'
    ? `${message}. Install the package below ${projectDir}, or start the worker with --project DIR, the folder that holds it`
    : message;
