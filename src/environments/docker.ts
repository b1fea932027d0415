import Docker from 'dockerode';
import type { EnvironmentAbilities } from '../domain/environment-abilities.ts';
import { PUBLIC, type NetworkPolicy } from '../domain/network-policy.ts';
import type { EnforcedResources } from '../domain/resources.ts';
import { inspectContainer, readEnforced, removeContainer } from './container-state.ts';
import { ContainerRemains } from './container-remains.ts';
import { copyFiles } from './docker-copy.ts';
import { DockerContainer } from './docker-container.ts';
import { runInContainer } from './docker-exec.ts';
import { ensureImage, isStatus, resolveImage, type PullProgress } from './docker-images.ts';
import {
  DockerNetwork,
  ensurePublicNetwork,
  removePublicNetwork,
  NEEDS_ROOT,
  type PublicNetwork,
} from './docker-network.ts';
import { toContainerOptions } from './docker-options.ts';
import { listResolvers } from './docker-resolvers.ts';
import { findProgram } from './enter-sandbox.ts';
import { SessionLostError } from './environment.ts';
import type { EnvironmentProvider, EnvironmentSession, OpenRequest, SessionHandle } from './environment.ts';
import { SANDBOX_WORK, SandboxSession } from './sandbox-session.ts';
import { toName } from './session-folders.ts';

export type DockerOptions = {
  /** Folder for what has to be remembered of open sessions. */
  readonly root: string;
  readonly hostId: string;
  readonly installationId: string;
  /** DOCKER_HOST as the engine's client reads it by itself; tells whether the engine is on this host. */
  readonly dockerHost?: string | null;
  /** The engine's socket; DOCKER_HOST and the system's own unless given. */
  readonly socketPath?: string;
  /** Search path on which `nsenter` is looked for. */
  readonly path?: string;
  /** Kept of a command's output; 2 MiB unless given. */
  readonly outputLimitBytes?: number;
  readonly onPull?: PullProgress;
  /** Name servers of containers; this host's unless given. */
  readonly resolvers?: readonly string[];
};

type Place = {
  readonly options: DockerOptions;
  readonly docker: Docker;
  readonly publicNetwork: PublicNetwork;
  readonly nsenter: string | null;
  /** Null where they are out of this worker's reach, as the namespaces are. */
  readonly remains: ContainerRemains | null;
  /** By session id, so that all who attach share one. */
  readonly containers: Map<string, DockerContainer>;
};

const KIND = 'docker';

/** Sessions in containers of a Docker engine, without rights, each from an image by its digest. */
export function createDockerEnvironment(options: DockerOptions): EnvironmentProvider {
  const { socketPath, installationId } = options;
  const nsenter = findNsenter(options);
  const place: Place = {
    options,
    docker: socketPath === undefined ? new Docker() : new Docker({ socketPath }),
    publicNetwork: { name: `assay-${installationId}`, labels: { 'assay.installation': installationId } },
    nsenter,
    remains: nsenter === null ? null : new ContainerRemains(options.root),
    containers: new Map(),
  };
  return {
    kind: KIND,
    open: (request) => open(place, request),
    attach: (handle) => attach(place, handle),
    copy: (session, request) => copy(place, session, request),
    close: (handle) => close(place, handle),
    describe: () => describe(place),
    resolveImage: async (image) => {
      if (image === null) throw new Error('environment docker needs an image');
      return await resolveImage(place.docker, image, options.onPull ?? (() => undefined));
    },
    listSessions: () => listSessions(place),
    removeLeftovers: () => removeLeftovers(place),
    endLeftProcesses: (handle) => endLeftProcesses(place, handle),
  };
}

const toHandle = ({ options }: Place, sessionId: string): SessionHandle => ({
  sessionId,
  kind: KIND,
  hostId: options.hostId,
  root: `assay-${options.installationId}-${toName(sessionId)}`,
});

const toNetwork = (place: Place, handle: SessionHandle): DockerNetwork =>
  new DockerNetwork({
    docker: place.docker,
    name: handle.root,
    publicNetwork: place.publicNetwork,
    folder: place.options.root,
    nsenter: place.nsenter,
  });

async function open(place: Place, request: OpenRequest): Promise<EnvironmentSession> {
  const handle = toHandle(place, request.sessionId);
  const existing = await attach(place, handle);
  if (existing !== null) return existing;
  const { docker, options } = place;
  if (request.image === undefined) throw new Error('environment docker needs an image');
  const image = await ensureImage(docker, request.image, options.onPull ?? (() => undefined));
  const policy = request.network ?? PUBLIC;
  toNetwork(place, handle).remember(policy);
  await create(place, { handle, request, policy });
  const container = docker.getContainer(handle.root);
  await container.start();
  await prepareDirectories(container, image.Config.User);
  const session = await attach(place, handle);
  if (session === null) throw new Error('the container ended at once');
  return session;
}

async function create(
  place: Place,
  planned: { readonly handle: SessionHandle; readonly request: OpenRequest; readonly policy: NetworkPolicy },
): Promise<void> {
  const { docker, options, publicNetwork } = place;
  if (planned.policy.mode === 'public') await ensurePublicNetwork(docker, publicNetwork);
  const { installationId, resolvers = listResolvers() } = options;
  const networkMode = planned.policy.mode === 'public' ? publicNetwork.name : 'none';
  try {
    await docker.createContainer(toContainerOptions({ ...planned, installationId, networkMode, resolvers }));
  } catch (error) {
    // An open that was cut off, or another that is faster, made it.
    if (!isStatus(error, 409)) throw error;
  }
}

/** The image's own user owns the working directory, whoever it is. */
async function prepareDirectories(container: Docker.Container, user: string | undefined): Promise<void> {
  const script = `mkdir -p ${SANDBOX_WORK} /tmp && chmod 1777 /tmp && { [ -z "$1" ] || chown "$1" ${SANDBOX_WORK}; }`;
  const argv = ['/bin/sh', '-c', script, 'assay', user ?? ''];
  const { exitCode, output } = await runInContainer(container, { argv, cwd: '/', variables: {}, user: '0' });
  if (exitCode !== 0) throw new Error(`the image needs /bin/sh and the usual programs: ${output.trim()}`);
}

async function attach(place: Place, handle: SessionHandle): Promise<EnvironmentSession | null> {
  if (handle.kind !== KIND || handle.hostId !== place.options.hostId) return null;
  const { root, sessionId } = toHandle(place, handle.sessionId);
  const info = await inspectContainer(place.docker, root);
  if (info === null || info.Config.Labels['assay.session'] !== sessionId) return null;
  const enforced = readEnforced(info);
  if (!info.State.Running) {
    // Made and not started yet, or stopped with its engine; files in memory are gone then.
    const fresh = info.State.Status === 'created';
    if (!fresh && enforced.diskBytes !== null) return null;
    await place.docker.getContainer(root).start();
    await prepareDirectories(place.docker.getContainer(root), info.Config.User);
  }
  return new SandboxSession(toContainer(place, handle, enforced));
}

function toContainer(place: Place, handle: SessionHandle, enforced: EnforcedResources): DockerContainer {
  const known = place.containers.get(handle.sessionId);
  if (known !== undefined) return known;
  const own = toHandle(place, handle.sessionId);
  const container = new DockerContainer({
    docker: place.docker,
    handle: own,
    network: toNetwork(place, own),
    enforced,
    outputLimitBytes: place.options.outputLimitBytes,
  });
  place.containers.set(handle.sessionId, container);
  return container;
}

async function copy(
  place: Place,
  session: EnvironmentSession,
  request: OpenRequest,
): Promise<EnvironmentSession> {
  const { docker } = place;
  const source = toHandle(place, session.handle.sessionId);
  const info = await inspectContainer(docker, source.root);
  if (info === null) throw new SessionLostError('The container of the session is gone.');
  await session.endProcesses();
  await close(place, toHandle(place, request.sessionId));
  const { by: _by, ...resources } = readEnforced(info);
  const target = await open(place, { image: info.Image, resources, ...request });
  const way = { from: docker.getContainer(source.root), to: docker.getContainer(target.handle.root) };
  await copyFiles(way, { inMemory: resources.diskBytes !== null });
  return target;
}

async function close(place: Place, handle: SessionHandle): Promise<void> {
  if (handle.kind !== KIND || handle.hostId !== place.options.hostId) return;
  const own = toHandle(place, handle.sessionId);
  await place.containers.get(handle.sessionId)?.release();
  place.containers.delete(handle.sessionId);
  const network = toNetwork(place, own);
  const info = await inspectContainer(place.docker, own.root);
  if (info !== null) place.remains?.note(own.root, info.Id);
  await removeContainer(place.docker, own.root);
  await place.remains?.end(own.root);
  network.forget();
}

async function listSessions({ docker, options }: Place): Promise<readonly SessionHandle[]> {
  const label = [`assay.installation=${options.installationId}`];
  const containers = await docker.listContainers({ all: true, filters: { label } });
  return containers.flatMap(({ Labels }) => {
    const sessionId = Labels['assay.session'];
    return sessionId === undefined ? [] : [toHandle({ options } as Place, sessionId)];
  });
}

/** The network of public sessions goes with the last session. */
async function removeLeftovers(place: Place): Promise<void> {
  for (const name of place.remains?.list() ?? []) {
    if ((await inspectContainer(place.docker, name)) === null) await place.remains?.endAll(name);
  }
  if ((await listSessions(place)).length > 0) return;
  await removePublicNetwork(place.docker, place.publicNetwork);
}

async function endLeftProcesses(place: Place, handle: SessionHandle): Promise<boolean> {
  const info = await inspectContainer(place.docker, handle.root);
  if (info?.State.Running !== true) return false;
  const { Processes } = (await place.docker.getContainer(handle.root).top()) as {
    Processes: readonly string[][];
  };
  // Process 1 and what it waits for.
  if (Processes.length <= 2) return false;
  await toContainer(place, handle, readEnforced(info)).endProcesses();
  return true;
}

/** Only root enters the namespaces of an engine's containers, and only of an engine on this host. */
function findNsenter({ socketPath, dockerHost, path = '' }: DockerOptions): string | null {
  const isLocal = socketPath !== undefined || !/^(tcp|ssh|https?):/.test(dockerHost ?? '');
  return isLocal && process.getuid?.() === 0 ? findProgram('nsenter', path) : null;
}

async function describe({ docker, nsenter }: Place): Promise<EnvironmentAbilities> {
  const abilities = {
    networks: nsenter === null ? (['public', 'none'] as const) : (['public', 'none', 'allowlist'] as const),
    switchesNetwork: true,
    reachesWorker: nsenter !== null,
    resources: ['cpus', 'memory', 'pids', 'disk'] as const,
    notes: nsenter === null ? [NEEDS_ROOT] : [],
  };
  try {
    await docker.ping();
    return { problem: null, ...abilities };
  } catch (error) {
    const why = (error as Error).message;
    const problem = `docker does not answer (${why}); start it, or set DOCKER_HOST where the worker runs`;
    return { problem, ...abilities };
  }
}
