/** Where a worker works; `cli/commands/worker.ts` reads it from the stack or the environment. */
export type WorkerSettings = {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  /** Folder for local data: sessions of environments, the bundle, the host's id. */
  readonly dataDir: string;
  /** Folder that the packages of run files resolve from; null = the one that each run recorded. */
  readonly projectDir: string | null;
  /** The worker belongs to the local stack: it watches whether anybody uses it, and revives its services. */
  readonly stack: boolean;
};
