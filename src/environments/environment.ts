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
  /** All that was written, also what was cut. */
  readonly outputBytes: number;
  readonly durationMs: number;
};

/** A directory for a grader's own files, beside the working directory and never part of it. */
export interface GraderFolder {
  /** As commands of the session see it: absolute. */
  readonly path: string;
  /** Throws a `SessionFileError` when the path is missing, no regular file, too big, or outside. */
  readFile(path: string): Promise<Uint8Array>;
  /** The file may be executed. */
  writeFile(path: string, content: Uint8Array): Promise<void>;
}

/** A path that cannot be read or written; the message says why in words that a model can act on. */
export class SessionFileError extends Error {
  override readonly name = 'SessionFileError';
}

/** The session's directory is gone: nothing in it can be done any more, and it is not the agent's fault. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';
}

export interface EnvironmentSession {
  readonly handle: SessionHandle;
  /**
   * Runs a command in its own process group. A time-out ends all that it started and is a result; an abort
   * does the same and rejects with the signal's reason. What it left running on purpose lives on until
   * `endProcesses`. Throws a `SessionLostError` when the session is gone.
   */
  exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult>;
  /** Throws a `SessionFileError` when the path is missing, no regular file, over 8 MiB, or outside. */
  readFile(path: string): Promise<Uint8Array>;
  writeFile(path: string, content: Uint8Array): Promise<void>;
  /** Names below a directory, directories with a trailing slash, sorted; one level. */
  listFiles(path: string): Promise<readonly string[]>;
  /** Ends every process that the session started, descendants that left their group included. */
  endProcesses(): Promise<void>;
  /** A new, empty directory for one scorer. */
  openGraderFolder(): Promise<GraderFolder>;
}

export interface EnvironmentProvider {
  readonly kind: string;
  /** Idempotent by `sessionId`: a second open of a live session returns it. */
  open(request: OpenRequest): Promise<EnvironmentSession>;
  /** Null when the session does not exist on this host. */
  attach(handle: SessionHandle): Promise<EnvironmentSession | null>;
  /**
   * A second session that starts as a copy of the first one's files, for grading, after the first one's
   * processes have ended. A copy that exists already is made again.
   */
  copy(session: EnvironmentSession, request: OpenRequest): Promise<EnvironmentSession>;
  /** Idempotent, safe after a partial open and for a session that never existed. */
  close(handle: SessionHandle): Promise<void>;
}
