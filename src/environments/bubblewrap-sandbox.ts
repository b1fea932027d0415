import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isNarrower, PUBLIC, type NetworkPolicy } from '../domain/network-policy.ts';
import { NO_LIMITS, type EnforcedResources, type ResourceName } from '../domain/resources.ts';
import { toBubblewrapArguments } from './bubblewrap-arguments.ts';
import type { ControlGroup, GroupCounters } from './control-groups.ts';
import { toEnterArguments, type SandboxPrograms } from './enter-sandbox.ts';
import { END_ALL } from './end-scripts.ts';
import { SessionLostError } from './environment.ts';
import type { ExecRequest, ExecResult, OpenRequest, SessionHandle } from './environment.ts';
import { DEFAULT_OUTPUT_LIMIT_BYTES, SYSTEM_PATH } from './host.ts';
import type { OutputPipes } from './output-pipe.ts';
import { runCommand } from './run-command.ts';
import type { SandboxStream } from './sandbox-files.ts';
import {
  endInit,
  findInit,
  hadInit,
  isAlive,
  runChore,
  startInit,
  type SandboxInit,
} from './sandbox-init.ts';
import { toMark } from './session-folders.ts';
import { SessionProxy } from './session-proxy.ts';
import { SessionServers } from './session-servers.ts';
import { SANDBOX_WORK, type Sandbox } from './sandbox-session.ts';

export type BubblewrapSandboxOptions = {
  readonly handle: SessionHandle;
  readonly request: OpenRequest;
  readonly programs: SandboxPrograms;
  readonly pipes: OutputPipes;
  readonly outputLimitBytes: number | undefined;
  /** User that commands run as when this worker is root; null = the worker's own. */
  readonly userId: number | null;
  readonly group: ControlGroup | null;
  readonly enforced: EnforcedResources;
};

const NETWORK = 'network.json';

/** One sandbox: namespaces that `bwrap` makes and that commands enter. Started when it is first needed. */
export class BubblewrapSandbox implements Sandbox {
  readonly handle: SessionHandle;
  readonly enforced: EnforcedResources;
  readonly #options: BubblewrapSandboxOptions;
  readonly #proxy = new SessionProxy();
  readonly #servers = new SessionServers();
  #init: SandboxInit | null = null;
  #starting: Promise<SandboxInit> | null = null;

  constructor(options: BubblewrapSandboxOptions) {
    this.handle = options.handle;
    this.enforced = options.enforced;
    this.#options = options;
  }

  /** Process 1, started if it does not run. Throws a `SessionLostError` when the session is gone. */
  async ensure(): Promise<SandboxInit> {
    if (this.#init !== null && (await isAlive(this.#init))) return this.#init;
    this.#starting ??= this.#findOrStart().finally(() => (this.#starting = null));
    this.#init = await this.#starting;
    return this.#init;
  }

  async exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
    signal.throwIfAborted();
    const init = await this.ensure();
    const way = await this.#holdNetwork(this.#readNetwork(), init);
    const { group, outputLimitBytes = DEFAULT_OUTPUT_LIMIT_BYTES } = this.#options;
    const before = group?.readCounters();
    const cwd = request.cwd === null ? SANDBOX_WORK : join(SANDBOX_WORK, request.cwd);
    const result = await runCommand(
      {
        argv:
          typeof request.command === 'string' ? [this.#findShell(), '-c', request.command] : request.command,
        cwd: '/',
        variables: { PATH: SYSTEM_PATH, ASSAY_SESSION: toMark(this.handle) },
        stdin: request.stdin,
        timeoutMs: request.timeoutMs,
        keepBytes: Math.floor(outputLimitBytes / 2),
        onOutput: request.onOutput,
        onErrorOutput: request.onErrorOutput,
      },
      {
        root: this.handle.root,
        pipes: this.#options.pipes,
        wrap: (argv, mark) =>
          this.#toEntry(init, { argv, mark, cwd, variables: { ...way, ...request.variables } }),
        onStuck: () => this.#endAll(init),
      },
      signal,
    );
    const exceeded = before === undefined ? null : findExceeded(before, group?.readCounters() ?? before);
    return { ...result, exceeded };
  }

  readonly startStream = async (
    argv: readonly string[],
    stdin: AsyncIterable<Uint8Array> | null,
  ): Promise<SandboxStream> => {
    const init = await this.ensure();
    const [program = '', ...args] = this.#toEntry(init, { argv, mark: null, cwd: '/', variables: {} });
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: SYSTEM_PATH },
      cwd: '/',
    });
    let errorText = '';
    child.stderr.on(
      'data',
      (chunk: Buffer) => (errorText = (errorText + chunk.toString('utf8')).slice(0, 4_000)),
    );
    // A program that stops reading says why by its exit code.
    const given = pipeline(stdin === null ? [] : Readable.from(stdin), child.stdin).catch(
      (error: unknown) => error,
    );
    const exited = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    const ended = Promise.all([exited, given]).then(([exitCode, fault]) => {
      if (exitCode === 0 && fault instanceof Error) throw fault;
      return { exitCode, errorText };
    });
    return { stdout: child.stdout, ended };
  };

  async endProcesses(): Promise<void> {
    const init = await findInit(this.handle.root);
    if (init !== null) await this.#endAll(init);
  }

  setNetwork(policy: NetworkPolicy): Promise<void> {
    return this.#switchNetwork(policy);
  }

  async listen(server: Server): Promise<{ readonly port: number }> {
    const init = await this.ensure();
    const isOwn = this.#readNetwork().mode !== 'public';
    return await this.#servers.listen(server, isOwn ? this.#toNetworkEntry(init) : null);
  }

  /** Ends all of it. What is on disk stays. */
  async end(): Promise<void> {
    this.#servers.close();
    await this.#proxy.close();
    await endInit(this.handle.root);
    this.#init = null;
  }

  async #switchNetwork(policy: NetworkPolicy): Promise<void> {
    const before = this.#readNetwork();
    writeFileSync(join(this.handle.root, NETWORK), JSON.stringify(policy), { mode: 0o600 });
    // Processes cannot be moved to another network: those on the host's must go.
    if (before.mode === 'public' && isNarrower(policy, before)) await this.endProcesses();
    await this.#holdNetwork(policy, await this.ensure());
  }

  /** Returns the variables that tell commands the way out. */
  #holdNetwork(policy: NetworkPolicy, init: SandboxInit): Promise<{ readonly [name: string]: string }> {
    const enter = this.#toNetworkEntry(init);
    return this.#proxy.hold(policy, async () => ({ id: `${init.pid}/${init.startTime}`, enter }));
  }

  #toNetworkEntry(init: SandboxInit): readonly string[] {
    const { programs, userId } = this.#options;
    const user = userId === null ? ['--user', '--preserve-credentials'] : [];
    return [programs.nsenter, '--target', String(init.pid), ...user, '--net', '--'];
  }

  #readNetwork(): NetworkPolicy {
    const path = join(this.handle.root, NETWORK);
    if (!existsSync(path)) return this.#options.request.network ?? PUBLIC;
    return JSON.parse(readFileSync(path, 'utf8')) as NetworkPolicy;
  }

  async #findOrStart(): Promise<SandboxInit> {
    const { handle, request, programs, userId } = this.#options;
    const running = await findInit(handle.root);
    if (running !== null) return running;
    if (!existsSync(join(handle.root, 'work')))
      throw new SessionLostError('The directory of the session is gone.');
    const { diskBytes } = request.resources ?? NO_LIMITS;
    if (diskBytes !== null && hadInit(handle.root)) {
      throw new SessionLostError('The sandbox ended, and its files, which were in memory, are gone.');
    }
    const args = toBubblewrapArguments({
      rootDirectory: request.image ?? null,
      work: join(handle.root, 'work'),
      temporary: join(handle.root, 'tmp'),
      accounts: join(handle.root, 'passwd'),
      diskBytes,
      isRoot: userId !== null,
    });
    return await startInit({ bwrap: programs.bwrap, args, root: handle.root });
  }

  #toEntry(
    init: SandboxInit,
    command: {
      readonly argv: readonly string[];
      readonly mark: string | null;
      readonly cwd: string;
      readonly variables: ExecRequest['variables'];
    },
  ): readonly string[] {
    const { programs, userId, request, group, enforced } = this.#options;
    const [name = '', value = ''] = command.mark?.split('=') ?? [];
    return toEnterArguments({
      programs,
      userId,
      initPid: init.pid,
      ownNetwork: this.#readNetwork().mode !== 'public',
      joinFiles: group?.listJoinFiles() ?? [],
      processMemoryBytes: group === null ? enforced.memoryBytes : null,
      cwd: command.cwd,
      argv: command.argv,
      variables: {
        PATH: SYSTEM_PATH,
        HOME: SANDBOX_WORK,
        TMPDIR: '/tmp',
        LANG: 'C.UTF-8',
        TERM: 'dumb',
        ...request.variables,
        ...command.variables,
        ...(name === '' ? {} : { [name]: value, ASSAY_SESSION: toMark(this.handle) }),
      },
    });
  }

  /** Outside the control group, where a process can still be started when the group is full. */
  async #endAll(init: SandboxInit): Promise<void> {
    const { programs, userId } = this.#options;
    const argv = toEnterArguments({
      programs,
      userId,
      initPid: init.pid,
      ownNetwork: true,
      joinFiles: [],
      processMemoryBytes: null,
      cwd: '/',
      argv: ['/bin/sh', '-c', END_ALL],
      variables: { PATH: SYSTEM_PATH },
    });
    await runChore(argv);
  }

  #findShell(): string {
    const root = this.#options.request.image ?? '/';
    return existsSync(join(root, 'bin/bash')) ? '/bin/bash' : '/bin/sh';
  }
}

function findExceeded(before: GroupCounters, after: GroupCounters): ResourceName | null {
  if (after.outOfMemory > before.outOfMemory) return 'memory';
  return after.forksRefused > before.forksRefused ? 'pids' : null;
}
