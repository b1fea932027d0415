import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { NetworkPolicy } from '../domain/network-policy.ts';
import type { EnforcedResources, ResourceName } from '../domain/resources.ts';
import { execInContainer, runInContainer, startInContainer } from './docker-exec.ts';
import { isStatus } from './docker-images.ts';
import type { DockerNetwork } from './docker-network.ts';
import { SessionLostError } from './environment.ts';
import type { ExecRequest, ExecResult, SessionHandle } from './environment.ts';
import { DEFAULT_OUTPUT_LIMIT_BYTES } from './host.ts';
import { END_ALL, END_MARKED } from './end-scripts.ts';
import type { StartStream } from './sandbox-files.ts';
import { SANDBOX_WORK, type Sandbox } from './sandbox-session.ts';

export type ContainerOptions = {
  readonly docker: Docker;
  readonly handle: SessionHandle;
  readonly network: DockerNetwork;
  readonly enforced: EnforcedResources;
  readonly outputLimitBytes: number | undefined;
};

const END_LIMIT_MS = 8_000;

const COUNTERS = `cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null | grep '^oom_kill '
cat /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events 2>/dev/null | grep '^max '
exit 0`;

type Counters = { readonly oom: number; readonly forks: number };

/** One container; its process 1 waits and collects orphans, and everything else is started by the engine. */
export class DockerContainer implements Sandbox {
  readonly handle: SessionHandle;
  readonly enforced: EnforcedResources;
  readonly #options: ContainerOptions;
  readonly #container: Docker.Container;
  #counters: Counters | null = null;

  constructor(options: ContainerOptions) {
    this.handle = options.handle;
    this.enforced = options.enforced;
    this.#options = options;
    this.#container = options.docker.getContainer(options.handle.root);
  }

  async exec(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
    signal.throwIfAborted();
    const way = await this.#options.network.hold();
    if (this.#isLimited()) this.#counters ??= await this.#readCounters();
    const mark = `ASSAY_COMMAND=${randomUUID()}`;
    const [name = '', value = ''] = mark.split('=');
    const command = {
      argv:
        typeof request.command === 'string'
          ? ['/bin/sh', '-c', SHELL, 'assay', request.command]
          : request.command,
      cwd: request.cwd === null ? SANDBOX_WORK : posix.join(SANDBOX_WORK, request.cwd),
      variables: { ...way, ...request.variables, [name]: value },
    };
    const { outputLimitBytes = DEFAULT_OUTPUT_LIMIT_BYTES } = this.#options;
    const result = await execInContainer(
      this.#container,
      {
        command,
        request,
        keepBytes: Math.floor(outputLimitBytes / 2),
        endCommand: () => this.#runEnd([END_MARKED, mark]),
      },
      signal,
    );
    if (!this.#isLimited() || result.exitCode === 0) return result;
    return { ...result, exceeded: await this.#findExceeded() };
  }

  readonly startStream: StartStream = (argv, stdin) =>
    startInContainer(this.#container, { argv, cwd: '/', variables: {} }, stdin);

  async endProcesses(): Promise<void> {
    await this.#runEnd([END_ALL]);
  }

  /** Lets go of what this worker holds for it; the container stays. */
  release(): Promise<void> {
    return this.#options.network.close();
  }

  listen(server: Server): Promise<{ readonly port: number }> {
    return this.#options.network.listen(server);
  }

  async setNetwork(policy: NetworkPolicy): Promise<void> {
    await this.#options.network.set(policy);
  }

  /** The script that ends processes; where it cannot be started, or does not get through, all are ended. */
  async #runEnd([script, ...args]: readonly [string, ...string[]]): Promise<void> {
    const command = { argv: ['/bin/sh', '-c', script, 'assay', ...args], cwd: '/', variables: {}, user: '0' };
    const done = runInContainer(this.#container, command).then(
      ({ exitCode }) => exitCode === 0,
      (error: unknown) => {
        if (error instanceof SessionLostError) return true;
        return false;
      },
    );
    if (await Promise.race([done, delay(END_LIMIT_MS, false, { ref: false })])) return;
    await this.#restart();
  }

  /** Files stay, unless they are in memory. */
  async #restart(): Promise<void> {
    await this.#container.kill().catch((error: unknown) => {
      if (!isStatus(error, 409)) throw error;
    });
    await this.#container.wait();
    if (this.enforced.diskBytes !== null) {
      throw new SessionLostError(
        'The processes of the session could only be ended with its files, which were in memory.',
      );
    }
    await this.#container.start();
    this.#counters = null;
  }

  #isLimited(): boolean {
    return this.enforced.memoryBytes !== null || this.enforced.pids !== null;
  }

  async #readCounters(): Promise<Counters> {
    const argv = ['/bin/sh', '-c', COUNTERS];
    const { output } = await runInContainer(this.#container, { argv, cwd: '/', variables: {} });
    const sum = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0);
    return { oom: sum(/^oom_kill (\d+)$/m), forks: sum(/^max (\d+)$/m) };
  }

  async #findExceeded(): Promise<ResourceName | null> {
    const before = this.#counters;
    // After a restart the counts begin anew; then only running into a limit can have made it necessary.
    if (before === null) return this.enforced.pids === null ? null : 'pids';
    const after = await this.#readCounters();
    this.#counters = after;
    if (after.oom > before.oom) return 'memory';
    return after.forks > before.forks ? 'pids' : null;
  }
}

/** Bash where the image has it. */
const SHELL = 'if [ -x /bin/bash ]; then exec /bin/bash -c "$1"; else exec /bin/sh -c "$1"; fi';
