import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import type { NetworkPolicy } from '../domain/network-policy.ts';
import type { EnforcedResources } from '../domain/resources.ts';
import type {
  EnvironmentSession,
  ExecRequest,
  ExecResult,
  FoundFile,
  GraderFolder,
  SessionHandle,
} from './environment.ts';
import { SandboxFiles, type StartStream } from './sandbox-files.ts';

/** Where the agent works, as it sees it. */
export const SANDBOX_WORK = '/work';

/** What a sandbox does by itself; the rest of a session is made of it. */
export interface Sandbox {
  readonly handle: SessionHandle;
  readonly enforced: EnforcedResources;
  exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult>;
  readonly startStream: StartStream;
  endProcesses(): Promise<void>;
  setNetwork(policy: NetworkPolicy): Promise<void>;
  listen(server: Server): Promise<{ readonly port: number }>;
}

/** A session whose files are reached by programs inside its sandbox. */
export class SandboxSession implements EnvironmentSession {
  readonly handle: SessionHandle;
  readonly workDirectory = SANDBOX_WORK;
  readonly enforced: EnforcedResources;
  readonly #sandbox: Sandbox;
  readonly #files: SandboxFiles;

  constructor(sandbox: Sandbox) {
    this.handle = sandbox.handle;
    this.enforced = sandbox.enforced;
    this.#sandbox = sandbox;
    this.#files = new SandboxFiles(SANDBOX_WORK, sandbox.startStream);
  }

  exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
    return this.#sandbox.exec(request, signal);
  }

  readFile(path: string): Promise<Uint8Array> {
    return this.#files.read(path);
  }

  writeFile(path: string, content: Uint8Array): Promise<void> {
    return this.#files.write(path, Readable.from([content]));
  }

  listFiles(path: string): Promise<readonly string[]> {
    return this.#files.list(path);
  }

  findFiles(path: string): Promise<readonly FoundFile[]> {
    return this.#files.find(path);
  }

  upload(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#files.write(path, content);
  }

  download(path: string): Promise<Readable> {
    return this.#files.download(path);
  }

  endProcesses(): Promise<void> {
    return this.#sandbox.endProcesses();
  }

  setNetwork(policy: NetworkPolicy): Promise<void> {
    return this.#sandbox.setNetwork(policy);
  }

  listen(server: Server): Promise<{ readonly port: number }> {
    return this.#sandbox.listen(server);
  }

  async openGraderFolder(): Promise<GraderFolder> {
    // An own one for each use: no report of one grader can be taken for another's.
    const path = `/tmp/grader-${randomUUID()}`;
    const { stdout, ended } = await this.#sandbox.startStream(['mkdir', '-m', '700', path], null);
    stdout.resume();
    const { exitCode, errorText } = await ended;
    if (exitCode !== 0) throw new Error(`The folder of a grader cannot be made: ${errorText.trim()}`);
    const files = new SandboxFiles(path, this.#sandbox.startStream);
    return {
      path,
      readFile: (name) => files.read(name),
      writeFile: (name, content) => files.write(name, Readable.from([content]), '700'),
    };
  }
}
