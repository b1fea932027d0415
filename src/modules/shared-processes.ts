import type { RunModule } from '../domain/run-module.ts';
import type { CallMessage } from './child-messages.ts';
import type { CallEnd, ModuleProcess } from './module-process.ts';

const IDLE_MS = 60_000;
/** Calls here have time limits of their own. */
const CALL_LIMIT_MS = 24 * 3_600_000;

type Shared = { readonly process: Promise<ModuleProcess>; open: number; timer: NodeJS.Timeout | null };

/** One process a module for calls that wait rather than work, as those of models do: they run side by side. */
export class SharedProcesses {
  private readonly start: (module: RunModule) => Promise<ModuleProcess>;
  private readonly shared = new Map<string, Shared>();

  constructor(start: (module: RunModule) => Promise<ModuleProcess>) {
    this.start = start;
  }

  async call(module: RunModule, message: CallMessage, signal: AbortSignal): Promise<CallEnd> {
    const key = JSON.stringify([module.digest, module.projectDir, module.path]);
    const entry = this.shared.get(key) ?? this.open(key, module);
    entry.open += 1;
    if (entry.timer !== null) clearTimeout(entry.timer);
    try {
      const process = await entry.process;
      if (!process.isUsable) this.forget(key, entry);
      return await process.call(message, { timeoutMs: CALL_LIMIT_MS, signal, shared: true });
    } finally {
      entry.open -= 1;
      await this.afterCall(key, entry);
    }
  }

  async stop(): Promise<void> {
    const entries = [...this.shared.values()];
    this.shared.clear();
    for (const { timer } of entries) if (timer !== null) clearTimeout(timer);
    await Promise.all(entries.map(({ process }) => process.then((one) => one.end()).catch(() => undefined)));
  }

  private open(key: string, module: RunModule): Shared {
    const entry: Shared = { process: this.start(module), open: 0, timer: null };
    entry.process.catch(() => this.forget(key, entry));
    this.shared.set(key, entry);
    return entry;
  }

  /** The next call gets a new process; this one ends with its last call. */
  private forget(key: string, entry: Shared): void {
    if (this.shared.get(key) === entry) this.shared.delete(key);
  }

  private async afterCall(key: string, entry: Shared): Promise<void> {
    const process = await entry.process.catch(() => null);
    if (process?.isUsable !== true) this.forget(key, entry);
    if (entry.open > 0 || process === null) return;
    if (this.shared.get(key) !== entry) return await process.end();
    entry.timer = setTimeout(() => {
      this.forget(key, entry);
      void process.end();
    }, IDLE_MS).unref();
  }
}
