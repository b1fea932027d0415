import type { Server } from 'node:http';
import type { Readable } from 'node:stream';
import type { EnvironmentAbilities } from '../domain/environment-abilities.ts';
import type { NetworkPolicy } from '../domain/network-policy.ts';
import type { EnforcedResources, ResourceLimits, ResourceName } from '../domain/resources.ts';

/** Names an open session so that another process on the same host can attach to it or close it. */
export type SessionHandle = {
  readonly sessionId: string;
  readonly kind: string;
  readonly hostId: string;
  /** Where the provider finds it: a directory of its host, or the name of a container. */
  readonly root: string;
};

export type OpenRequest = {
  /** Chosen by the caller beforehand, so that an orphan can be found. */
  readonly sessionId: string;
  readonly variables: { readonly [name: string]: string };
  /** What the session's files start from: an image as the plan recorded it, or a root directory. */
  readonly image?: string;
  /** No limits unless given. */
  readonly resources?: ResourceLimits;
  /** `public` unless given. */
  readonly network?: NetworkPolicy;
  /** Whose session it is, where a provider can write that down: run, request, attempt. */
  readonly labels?: { readonly [name: string]: string };
};

export type ExecRequest = {
  /** Shell text for `/bin/bash -c` (sh where there is no bash), or an argument list. */
  readonly command: string | readonly string[];
  readonly timeoutMs: number;
  /** Closed after this; a command that never reads it, or stops early, breaks nothing. */
  readonly stdin: string | AsyncIterable<Uint8Array> | null;
  /** Relative to the session's working directory; null = the working directory. */
  readonly cwd: string | null;
  /** Added to the minimal environment. */
  readonly variables: { readonly [name: string]: string };
  /** Each piece of output as it comes, also what `output` will not keep. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
  /** Where given, stderr comes here alone, and is no part of `output` and `onOutput`. */
  readonly onErrorOutput?: ((chunk: Uint8Array) => void) | undefined;
};

export type ExecResult = {
  /**
   * Null when the command was ended by a signal or never started. Where an environment starts commands
   * through a shell, a program that cannot be started is 126 or 127; where it sees no signals, 128 + signal.
   */
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
  /** The session's limit that was hit while the command ran: processes were ended or refused; null = none. */
  readonly exceeded: ResourceName | null;
};

/** A regular file below a directory. */
export type FoundFile = { readonly path: string; readonly bytes: number };

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

/** How a command ended, or whether it ran at all, is not known: what starts commands was lost. */
export class CommandLostError extends Error {
  override readonly name = 'CommandLostError';
}

export interface EnvironmentSession {
  readonly handle: SessionHandle;
  /** Where its commands start, absolute, as they see it. */
  readonly workDirectory: string;
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
  /** Regular files below a directory at any depth, links not followed, sorted; at most 10,000. */
  findFiles(path: string): Promise<readonly FoundFile[]>;
  /** Writes a file of any size; memory stays flat. */
  upload(path: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Reads a file of any size; memory stays flat. */
  download(path: string): Promise<Readable>;
  /** Ends every process that the session started, descendants that left their group included. */
  endProcesses(): Promise<void>;
  /** A new, empty directory for one scorer. */
  openGraderFolder(): Promise<GraderFolder>;
  /**
   * From here on commands reach what the policy says. Narrowing it ends what still runs with the wider one.
   * Throws where the environment cannot do it; `describe` says so beforehand.
   */
  setNetwork(policy: NetworkPolicy): Promise<void>;
  /**
   * Makes a server of this worker reachable for the session's commands on 127.0.0.1, whatever their policy; it
   * is closed with the session at the latest. Throws where this worker cannot enter the session's network.
   */
  listen(server: Server): Promise<{ readonly port: number }>;
  /** The limits that hold for this session, for the record. */
  readonly enforced: EnforcedResources;
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
  /** What it can do on this host, now; asked every few seconds. */
  describe(): Promise<EnvironmentAbilities>;
  /**
   * The exact name of what sessions start from (an image's digest), for the plan; null = nothing to resolve.
   * Throws an error that says what to do when it cannot be had.
   */
  resolveImage(image: string | null): Promise<string | null>;
  /** Sessions of this installation that lie on this host, open or left behind. */
  listSessions(): Promise<readonly SessionHandle[]>;
  /** Removes what was cut off while it was made or removed, and what only sessions need that are gone. */
  removeLeftovers(): Promise<void>;
  /** Ends what a former worker's commands left running in a session. Returns whether there was anything. */
  endLeftProcesses(handle: SessionHandle): Promise<boolean>;
}
