/** Names an open session so that another process on the same host can attach to it or close it. */
export type SessionHandle = {
  readonly sessionId: string;
  readonly kind: string;
  readonly hostId: string;
  /** Directory of the session on its host: `work/` for the agent, the rest out of its reach by convention. */
  readonly root: string;
};

export type OpenRequest = {
  /** Chosen by the caller beforehand, so that an orphan can be found. */
  readonly sessionId: string;
  readonly variables: { readonly [name: string]: string };
};

export type ExecRequest = {
  /** Shell text for `/bin/bash -c` (sh where there is no bash), or an argument list. */
  readonly command: string | readonly string[];
  readonly timeoutMs: number;
  readonly stdin: string | null;
  /** Relative to the session's working directory; null = the working directory. */
  readonly cwd: string | null;
  /** Added to the minimal environment. */
  readonly variables: { readonly [name: string]: string };
};

export type ExecResult = {
  /** Null when the command was ended by a signal or never started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Why the command could not be started, or null. */
  readonly spawnError: string | null;
  /** Output so far, stdout and stderr in order of arrival; the middle is cut above `outputLimitBytes`. */
  readonly output: string;
  readonly outputBytes: number;
  readonly durationMs: number;
};

export interface EnvironmentSession {
  readonly handle: SessionHandle;
  /** Runs a command in its own process group; time-out and abort end the whole group. */
  exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult>;
  /** Throws an error with a readable message when the path is missing, a directory, or outside. */
  readFile(path: string): Promise<Uint8Array>;
  writeFile(path: string, content: Uint8Array): Promise<void>;
  /** Names below a directory, directories with a trailing slash, sorted; one level. */
  listFiles(path: string): Promise<readonly string[]>;
  /** Ends every process that the session started, descendants that left their group included. */
  endProcesses(): Promise<void>;
}

export interface EnvironmentProvider {
  readonly kind: string;
  /** Idempotent by `sessionId`: a second open of a live session returns it. */
  open(request: OpenRequest): Promise<EnvironmentSession>;
  /** Null when the session does not exist on this host. */
  attach(handle: SessionHandle): Promise<EnvironmentSession | null>;
  /** A second session that starts as a copy of the first one's files, for grading. */
  copy(session: EnvironmentSession, request: OpenRequest): Promise<EnvironmentSession>;
  /** Idempotent, safe after a partial open and for a session that never existed. */
  close(handle: SessionHandle): Promise<void>;
}
