import type Docker from 'dockerode';
import type { EnforcedResources } from '../domain/resources.ts';
import { isStatus } from './docker-images.ts';
import { SANDBOX_WORK } from './sandbox-session.ts';

/** The limits as the engine took them. */
export function readEnforced({ HostConfig }: Docker.ContainerInspectInfo): EnforcedResources {
  const positive = (value: number | null | undefined): number | null =>
    (value ?? 0) > 0 ? (value ?? null) : null;
  const size = /size=(\d+)/.exec(HostConfig.Tmpfs?.[SANDBOX_WORK] ?? '')?.[1];
  const cpus = positive(HostConfig.NanoCpus);
  return {
    cpus: cpus === null ? null : cpus / 1e9,
    memoryBytes: positive(HostConfig.Memory),
    reservedMemoryBytes: positive(HostConfig.MemoryReservation),
    pids: positive(HostConfig.PidsLimit),
    diskBytes: size === undefined ? null : Number(size),
    by: 'docker',
  };
}

/** Null when there is no such container. */
export async function inspectContainer(
  docker: Docker,
  name: string,
): Promise<Docker.ContainerInspectInfo | null> {
  try {
    return await docker.getContainer(name).inspect();
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

/** Removes a container with its anonymous volumes. Returns when it is gone. */
export async function removeContainer(docker: Docker, name: string): Promise<void> {
  const container = docker.getContainer(name);
  try {
    await container.remove({ force: true, v: true });
  } catch (error) {
    if (isStatus(error, 404)) return;
    // Somebody else is removing it.
    if (!isStatus(error, 409)) throw error;
    await container.wait({ condition: 'removed' }).catch((gone: unknown) => {
      if (!isStatus(gone, 404)) throw gone;
    });
  }
}
