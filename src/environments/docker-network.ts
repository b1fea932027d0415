import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { PUBLIC, type NetworkPolicy } from '../domain/network-policy.ts';
import { isStatus } from './docker-images.ts';
import { SessionProxy, type Namespace } from './session-proxy.ts';
import { SessionServers } from './session-servers.ts';

/** What a worker must be to join a container's network with its own. */
export const NEEDS_ROOT =
  'an allowlist or a recording proxy needs a worker that is root on the host of the docker engine';

/** The network that public sessions are on; sessions do not see each other there. */
export type PublicNetwork = { readonly name: string; readonly labels: { readonly [name: string]: string } };

const making = new WeakMap<Docker, Promise<void>>();

/** Makes the network of this installation when it is not there. The engine does not mind making one name twice. */
export async function ensurePublicNetwork(docker: Docker, network: PublicNetwork): Promise<void> {
  const begun = making.get(docker);
  if (begun !== undefined) return begun;
  const made = makePublicNetwork(docker, network).finally(() => making.delete(docker));
  making.set(docker, made);
  await made;
}

async function makePublicNetwork(docker: Docker, { name, labels }: PublicNetwork): Promise<void> {
  if ((await keepOne(docker, name)) > 0) return;
  await docker
    .createNetwork({
      Name: name,
      Driver: 'bridge',
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
      Labels: { ...labels },
    })
    .catch((error: unknown) => {
      // Another worker was faster.
      if (!isStatus(error, 409)) throw error;
    });
  await keepOne(docker, name);
}

/**
 * How many networks have that name, 0 or 1 at the end. Workers that ask at the same time get one each, and then the
 * engine refuses the name as ambiguous, for containers and for the end of either: those without a container go.
 */
async function keepOne(docker: Docker, name: string): Promise<number> {
  const found = await findByName(docker, name);
  if (found.length < 2) return found.length;
  const used = await Promise.all(
    found.map(async (id) => {
      const { Containers = {} } = await docker.getNetwork(id).inspect();
      return { id, containers: Object.keys(Containers).length };
    }),
  );
  const [, ...others] = used.toSorted((one, other) => other.containers - one.containers);
  for (const { id } of others) await removeNetwork(docker, id);
  return 1;
}

/** Ids, the oldest first. */
async function findByName(docker: Docker, name: string): Promise<readonly string[]> {
  const listed = await docker.listNetworks({ filters: { name: [name] } });
  return listed
    .filter(({ Name }) => Name === name)
    .toSorted((one, other) => (one.Created ?? '').localeCompare(other.Created ?? ''))
    .map(({ Id }) => Id);
}

/** Not there, or a session is just being opened on it: both are well. */
const removeNetwork = (docker: Docker, id: string): Promise<void> =>
  docker
    .getNetwork(id)
    .remove()
    .then(() => undefined)
    .catch((error: unknown) => {
      if (!isStatus(error, 403, 404, 409)) throw error;
    });

/** Every network of that name on which no container is. */
export async function removePublicNetwork(docker: Docker, { name }: PublicNetwork): Promise<void> {
  for (const id of await findByName(docker, name)) await removeNetwork(docker, id);
}

/** What one container reaches, and the file in which that is remembered for the next worker. */
export class DockerNetwork {
  readonly #docker: Docker;
  readonly #name: string;
  readonly #public: PublicNetwork;
  readonly #path: string;
  readonly #proxy = new SessionProxy();
  readonly #servers = new SessionServers();
  readonly #nsenter: string | null;

  constructor(place: {
    readonly docker: Docker;
    /** Of the container. */
    readonly name: string;
    readonly publicNetwork: PublicNetwork;
    readonly folder: string;
    /** Program that enters namespaces; null = this worker cannot. */
    readonly nsenter: string | null;
  }) {
    this.#nsenter = place.nsenter;
    this.#docker = place.docker;
    this.#name = place.name;
    this.#public = place.publicNetwork;
    this.#path = join(place.folder, `${place.name}.json`);
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  }

  /** Recorded before the container is made with it. */
  remember(policy: NetworkPolicy): void {
    writeFileSync(this.#path, JSON.stringify(policy), { mode: 0o600 });
  }

  forget(): void {
    rmSync(this.#path, { force: true });
  }

  read(): NetworkPolicy {
    if (!existsSync(this.#path)) return PUBLIC;
    return JSON.parse(readFileSync(this.#path, 'utf8')) as NetworkPolicy;
  }

  /** Called before each command: what the policy needs on this worker is there. Returns variables for it. */
  hold(): Promise<{ readonly [name: string]: string }> {
    return this.#proxy.hold(this.read(), () => this.#findNamespace());
  }

  async listen(server: Server): Promise<{ readonly port: number }> {
    const { enter } = await this.#findNamespace();
    return await this.#servers.listen(server, enter);
  }

  close(): Promise<void> {
    this.#servers.close();
    return this.#proxy.close();
  }

  async set(policy: NetworkPolicy): Promise<void> {
    this.remember(policy);
    if (policy.mode === 'public') await this.#plug('none', this.#public.name);
    else await this.#plug(this.#public.name, 'none');
    await this.hold();
  }

  /** By the container's process 1, as this host numbers it: the engine must be on this host. */
  async #findNamespace(): Promise<Namespace> {
    const { State } = await this.#docker.getContainer(this.#name).inspect();
    const path = `/proc/${State.Pid}/ns/net`;
    const own = readlinkSync('/proc/self/ns/net');
    if (this.#nsenter === null || State.Pid === 0 || !existsSync(path) || readlinkSync(path) === own) {
      throw new Error(NEEDS_ROOT);
    }
    return { id: readlinkSync(path), enter: [this.#nsenter, '--target', String(State.Pid), '--net', '--'] };
  }

  /** Out of one network and into the other; a container on `none` can be on no second one. */
  async #plug(from: string, to: string): Promise<void> {
    const { NetworkSettings } = await this.#docker.getContainer(this.#name).inspect();
    const on = Object.keys(NetworkSettings.Networks);
    if (on.includes(to) && !on.includes(from)) return;
    if (to !== 'none') await ensurePublicNetwork(this.#docker, this.#public);
    if (on.includes(from))
      await this.#docker.getNetwork(from).disconnect({ Container: this.#name, Force: true });
    if (!on.includes(to)) await this.#docker.getNetwork(to).connect({ Container: this.#name });
  }
}
