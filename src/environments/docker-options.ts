import type Docker from 'dockerode';
import { NO_LIMITS } from '../domain/resources.ts';
import type { OpenRequest, SessionHandle } from './environment.ts';
import { SANDBOX_WORK } from './sandbox-session.ts';

/** What installing packages and owning files needs; nothing that reaches beyond the container. */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'NET_BIND_SERVICE',
];

/** Waits and collects orphans; as process 1 it cannot be killed from inside. */
const INIT = ['/bin/sh', '-c', 'while :; do sleep 1000000 & wait "$!"; done'];

export type PlannedContainer = {
  readonly handle: SessionHandle;
  readonly request: OpenRequest;
  readonly installationId: string;
  readonly networkMode: string;
  readonly resolvers: readonly string[];
};

/** Everything that the engine is told of a session's container. */
export function toContainerOptions(planned: PlannedContainer): Docker.ContainerCreateOptions {
  const { handle, request, installationId, networkMode, resolvers } = planned;
  const { cpus, memoryBytes, reservedMemoryBytes, pids, diskBytes } = request.resources ?? NO_LIMITS;
  const labels = Object.entries(request.labels ?? {}).map(([name, value]) => [`assay.${name}`, value]);
  const variables = {
    HOME: SANDBOX_WORK,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...request.variables,
  };
  return {
    name: handle.root,
    Hostname: 'sandbox',
    Entrypoint: INIT,
    Cmd: [],
    Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    ...(request.image === undefined ? {} : { Image: request.image }),
    Labels: {
      ...Object.fromEntries(labels),
      'assay.installation': installationId,
      'assay.host': handle.hostId,
      'assay.session': handle.sessionId,
    },
    // Process 1 as root, so that nothing of another user can end it; commands are the image's user.
    HostConfig: {
      NetworkMode: networkMode,
      ...(resolvers.length === 0 ? {} : { Dns: [...resolvers] }),
      CapDrop: ['ALL'],
      CapAdd: CAPABILITIES,
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      ...(cpus === null ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
      // Swap is no way around.
      ...(memoryBytes === null ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
      ...(reservedMemoryBytes === null ? {} : { MemoryReservation: reservedMemoryBytes }),
      ...(pids === null ? {} : { PidsLimit: pids }),
      ...(diskBytes === null ? {} : toLimitedDisk(diskBytes)),
    },
  };
}

/** What can be written is in memory and has a size; the image's own files cannot be changed. */
const toLimitedDisk = (bytes: number): Docker.HostConfig => ({
  ReadonlyRootfs: true,
  Tmpfs: {
    [SANDBOX_WORK]: `rw,exec,nosuid,nodev,mode=1777,size=${bytes}`,
    '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${bytes}`,
  },
});
