import type { Selection } from '../config/selection.ts';
import type { Json } from '../domain/json.ts';
import type { AssayConnection } from './connect.ts';
import type { ListedRun } from './list-runs.ts';
import type { RunHandle } from './run-handle.ts';

/** Where a program finds Assay. Without `databaseUrl` it is found as the command `assay` finds it. */
export type ConnectOptions = {
  /**
   * Address of Postgres, such as `postgres://user@host/assay`. Given, nothing is started: workers run elsewhere.
   * Left out, `DATABASE_URL` counts, else the local stack, which is started when it does not run.
   */
  readonly databaseUrl?: string;
  /** Temporal's address and namespace, with `databaseUrl`. Left out, Temporal's own variables and profile count. */
  readonly temporal?: { readonly address: string; readonly namespace: string };
  /** Folder of the local stack; `ASSAY_DIR`, else `.assay` in the current folder. */
  readonly dataDir?: string;
  /** Told what goes on while the local stack is started. */
  readonly note?: (text: string) => void;
};

export type StartOptions = {
  /** Names the run; the id of a run that exists attaches to it. Left out, a readable one is made. */
  readonly runId?: string;
  /** Approves spending above `budgets.confirmAboveUsd` beforehand; else such a run waits for `approve`. */
  readonly approved?: boolean;
  /**
   * A run (its id, the start of it, or `last`) whose scored cells are taken where their fingerprints match, instead
   * of being run: nothing of them is paid or called again.
   */
  readonly reuse?: string;
  /** With `reuse`: takes cells of equal names whose fingerprints differ, too; every report of the run says so. */
  readonly allowMismatch?: boolean;
  /** Which cases, tags, models and requests are taken, as the command's options say. */
  readonly selection?: Partial<Selection>;
  /** Folder that the paths of a document object are relative to; the current one unless given. */
  readonly baseDir?: string;
};

/**
 * Starts runs and follows, steers and reads them. `await using` or `close()` ends its connections; runs go on
 * without it. Every method throws an error of one sentence that says what to do when the user can mend it.
 */
export class AssayClient implements AsyncDisposable {
  private readonly connection: AssayConnection;
  private readonly end: () => Promise<void>;

  private constructor(connection: AssayConnection, end: () => Promise<void>) {
    this.connection = connection;
    this.end = end;
  }

  /** Connects, and brings the tables up to date. */
  static async connect(options: ConnectOptions = {}): Promise<AssayClient> {
    // Imported when it is needed: run files import this module's entry, too, and should load fast.
    const { openClient } = await import('./open-client.ts');
    const { connection, close } = await openClient(options);
    return new AssayClient(connection, close);
  }

  /**
   * Starts a run: from the path of a run file (YAML, JSON, TypeScript), or from a document of the same shape.
   * Throws a ConfigError with every problem of the file before anything is started.
   */
  async start(
    run: string | { readonly [key: string]: Json },
    options: StartOptions = {},
  ): Promise<RunHandle> {
    const { startFromSource } = await import('./start-source.ts');
    const { runId } = await startFromSource(this.connection, run, options);
    return await this.toHandle(runId);
  }

  /** A run that is there already, open or ended: by its id, the start of it, or `last`. */
  async attach(runId: string): Promise<RunHandle> {
    const { findRun } = await import('./find-run.ts');
    return await this.toHandle((await findRun(this.connection.db, runId)).runId);
  }

  /** The newest runs first, at most `limit` (100). */
  async list({ limit = 100, openOnly = false } = {}): Promise<readonly ListedRun[]> {
    const { listRuns } = await import('./list-runs.ts');
    return await listRuns(this.connection, { limit, openOnly });
  }

  async close(): Promise<void> {
    await this.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  private async toHandle(runId: string): Promise<RunHandle> {
    const { RunHandle } = await import('./run-handle.ts');
    return new RunHandle(this.connection, runId);
  }
}
