import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NetworkPolicy } from '../domain/network-policy.ts';
import { NOT_ENFORCED } from '../domain/resources.ts';
import { endOwnedProcesses } from './end-processes.ts';
import { SessionFileError, SessionLostError } from './environment.ts';
import type {
  EnvironmentSession,
  ExecRequest,
  ExecResult,
  FoundFile,
  GraderFolder,
  SessionHandle,
} from './environment.ts';
import type { OutputPipes } from './output-pipe.ts';
import { loadRecordedProcesses } from './process-record.ts';
import { runCommand } from './run-command.ts';
import { toMark } from './session-folders.ts';
import type { SessionServers } from './session-servers.ts';
import {
  findFilesInside,
  listFilesInside,
  openForReading,
  openForWriting,
  readFileInside,
  resolveExisting,
  writeFileInside,
} from './session-paths.ts';

export type HostSessionOptions = {
  /** Search path of commands. */
  readonly path: string;
  /** Kept of a command's output: half from its beginning, half from its end. */
  readonly outputLimitBytes: number;
  /** Shared by the sessions of one provider. */
  readonly pipes: OutputPipes;
  /** Of this session, for all who attach. */
  readonly servers: SessionServers;
  /** The session's own variables, added to the minimal ones. */
  readonly variables: { readonly [name: string]: string };
};

/** A session that is a directory of this machine; nothing but convention keeps a command inside. */
export class HostSession implements EnvironmentSession {
  readonly handle: SessionHandle;
  readonly enforced = NOT_ENFORCED;
  readonly #options: HostSessionOptions;
  readonly #work: string;

  constructor(handle: SessionHandle, options: HostSessionOptions) {
    this.handle = handle;
    this.#options = options;
    this.#work = join(handle.root, 'work');
  }

  get workDirectory(): string {
    return this.#work;
  }

  async exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
    signal.throwIfAborted();
    if (!existsSync(this.#work)) throw new SessionLostError('The directory of the session is gone.');
    const cwd = await this.#findCwd(request.cwd);
    if ('problem' in cwd) return notStarted(cwd.problem);
    const { root } = this.handle;
    return runCommand(
      {
        argv: typeof request.command === 'string' ? [findShell(), '-c', request.command] : request.command,
        cwd: cwd.path,
        variables: this.#toVariables(request.variables),
        stdin: request.stdin,
        timeoutMs: request.timeoutMs,
        keepBytes: Math.floor(this.#options.outputLimitBytes / 2),
        onOutput: request.onOutput,
        onErrorOutput: request.onErrorOutput,
      },
      { root, pipes: this.#options.pipes },
      signal,
    );
  }

  readFile(path: string): Promise<Uint8Array> {
    return readFileInside(this.#work, path);
  }

  writeFile(path: string, content: Uint8Array): Promise<void> {
    return writeFileInside(this.#work, path, content);
  }

  listFiles(path: string): Promise<readonly string[]> {
    return listFilesInside(this.#work, path);
  }

  findFiles(path: string): Promise<readonly FoundFile[]> {
    return findFilesInside(this.#work, path);
  }

  async upload(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const fd = await openForWriting(this.#work, path);
    await pipeline(Readable.from(content), createWriteStream('', { fd }));
  }

  async download(path: string): Promise<Readable> {
    const fd = await openForReading(this.#work, path);
    return createReadStream('', { fd });
  }

  setNetwork(policy: NetworkPolicy): Promise<void> {
    if (policy.mode === 'public') return Promise.resolve();
    return Promise.reject(new Error('Environment host cannot cut the network; use bubblewrap or docker.'));
  }

  listen(server: Server): Promise<{ readonly port: number }> {
    return this.#options.servers.listen(server, null);
  }

  async endProcesses(): Promise<void> {
    await endRecordedProcesses(this.handle);
  }

  async openGraderFolder(): Promise<GraderFolder> {
    const parent = join(this.handle.root, 'grader');
    await mkdir(parent, { recursive: true, mode: 0o700 });
    // An own one for each use: no report of one grader can be taken for another's.
    const path = await mkdtemp(join(parent, 'g-'));
    return {
      path,
      readFile: (name) => readFileInside(path, name),
      writeFile: async (name, content) => {
        await writeFileInside(path, name, content);
        await chmod(resolve(path, name), 0o700);
      },
    };
  }

  async #findCwd(cwd: string | null): Promise<{ readonly path: string } | { readonly problem: string }> {
    if (cwd === null) return { path: this.#work };
    try {
      const path = await resolveExisting(this.#work, cwd);
      return (await stat(path)).isDirectory() ? { path } : { problem: `"${cwd}" is not a directory.` };
    } catch (error) {
      if (error instanceof SessionFileError) return { problem: error.message };
      throw error;
    }
  }

  /** Built from nothing: no variable of the worker is among them. */
  #toVariables(added: { readonly [name: string]: string }): { readonly [name: string]: string } {
    return {
      PATH: this.#options.path,
      HOME: this.#work,
      TMPDIR: join(this.handle.root, 'tmp'),
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      ...this.#options.variables,
      ...added,
      ASSAY_SESSION: toMark(this.handle),
    };
  }
}

/**
 * Ends what commands of a session left running, descendants that left their group included, also when the
 * worker that started them is dead. Returns their pids. Throws when some do not end.
 */
export async function endRecordedProcesses(handle: SessionHandle): Promise<readonly number[]> {
  const recorded = await loadRecordedProcesses(handle.root);
  const marker = `ASSAY_SESSION=${toMark(handle)}`;
  return endOwnedProcesses({ scope: 'session', marker, recorded, root: handle.root });
}

const findShell = (): string => (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');

const notStarted = (spawnError: string): ExecResult => ({
  exitCode: null,
  signal: null,
  timedOut: false,
  spawnError,
  output: '',
  outputBytes: 0,
  durationMs: 0,
  exceeded: null,
});
