import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Docker from 'dockerode';
import { createDockerEnvironment, type DockerOptions } from '../../src/environments/docker.ts';
import type { EnvironmentProvider } from '../../src/environments/environment.ts';
import { findProgram } from '../../src/environments/enter-sandbox.ts';
import { killNow } from '../crash/kills.ts';
import { findProcesses } from '../crash/processes.ts';
import { makeRootFilesystem } from './root-filesystem.ts';

export const IMAGE = 'assay-test:1';

/** A docker engine of the test's own with one small image. */
export type TestEngine = {
  readonly socketPath: string;
  readonly docker: Docker;
  readonly create: (root: string, more?: Partial<DockerOptions>) => EnvironmentProvider;
  /** Kills the engine as a crash does, and starts it again on its data. */
  readonly crash: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** Why no engine can be started here; null = one can. */
export function findEngineProblem(): string | null {
  if (process.getuid?.() !== 0) return 'a docker engine needs root';
  const path = process.env['PATH'] ?? '';
  const missing = ['dockerd', 'containerd', 'runc'].filter((name) => findProgram(name, path) === null);
  return missing.length === 0 ? null : `no ${missing.join(', ')}: apt-get install docker.io`;
}

export async function startEngine(): Promise<TestEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-docker-'));
  const socketPath = join(folder, 'docker.sock');
  const docker = new Docker({ socketPath });
  let engine = await startDaemon(folder, docker);
  try {
    await importImage(folder, docker);
  } catch (error) {
    await stopDaemon(engine, 'SIGTERM');
    throw error;
  }
  return {
    socketPath,
    docker,
    create: (root, more) =>
      createDockerEnvironment({ root, socketPath, hostId: 'here', installationId: 'test', ...more }),
    crash: async () => {
      await stopDaemon(engine, 'SIGKILL');
      killRecorded(join(folder, 'exec-root/containerd/containerd.pid'));
      engine = await startDaemon(folder, docker);
    },
    stop: async () => {
      // A bridge outlives its engine.
      for (const { Id, Name } of await docker.listNetworks()) {
        if (Name.startsWith('assay-')) await docker.getNetwork(Id).remove();
      }
      await stopDaemon(engine, 'SIGTERM');
      // What a crash left running, which names the folder, and mounted.
      killNow(findProcesses(folder).map(({ pid }) => pid));
      const mounts =
        readFileSync('/proc/mounts', 'utf8')
          .match(/\S+/g)
          ?.filter((path) => path.startsWith(folder)) ?? [];
      for (const mount of mounts.toReversed()) spawnSync('umount', ['--lazy', mount]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startDaemon(folder: string, docker: Docker): Promise<ChildProcess> {
  const log = openSync(join(folder, 'log'), 'a');
  const places = ['data-root', 'exec-root', 'pidfile'].map((name) => `--${name}=${join(folder, name)}`);
  const engine = spawn(
    'dockerd',
    [
      ...places,
      `--host=unix://${join(folder, 'docker.sock')}`,
      '--iptables=false',
      '--ip6tables=false',
      '--bridge=none',
      '--storage-driver=vfs',
    ],
    { stdio: ['ignore', log, log], env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` } },
  );
  for (let look = 0; look < 150; look += 1) {
    if (engine.exitCode !== null) break;
    const answer = await docker.ping().catch(() => null);
    if (answer !== null) return engine;
    await delay(100);
  }
  engine.kill('SIGKILL');
  throw new Error(`dockerd did not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2_000)}`);
}

async function stopDaemon(engine: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (engine.exitCode !== null || engine.signalCode !== null) return;
  const ended = new Promise((resolve) => engine.once('exit', resolve));
  engine.kill(signal);
  await ended;
}

/** The part of the engine that outlives it. */
function killRecorded(path: string): void {
  process.kill(Number(readFileSync(path, 'utf8')), 'SIGKILL');
  rmSync(path);
}

async function importImage(folder: string, docker: Docker): Promise<void> {
  const rootfs = join(folder, 'rootfs');
  makeRootFilesystem(rootfs);
  spawnSync('tar', ['-C', rootfs, '-cf', join(folder, 'rootfs.tar'), '.']);
  const [repo, tag] = IMAGE.split(':');
  const stream = await docker.importImage(join(folder, 'rootfs.tar'), { repo, tag, changes: 'VOLUME /data' });
  for await (const _chunk of stream) continue;
}
