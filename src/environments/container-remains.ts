import { readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MOUNT = '/sys/fs/cgroup';
const NOTE = '.removing';

/**
 * What a container of an engine on this host leaves when the engine was killed: its processes may run on though the
 * engine has forgotten it, with their control groups and the process that stood between them and the engine. Ids are
 * noted before the engine is asked to remove a container, so that all of it is found.
 */
export class ContainerRemains {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  note(name: string, id: string): void {
    writeFileSync(this.#toPath(name), id, { mode: 0o600 });
  }

  /** Names of containers of which something may be left. */
  list(): readonly string[] {
    const names = readNames(this.#folder).filter((name) => name.endsWith(NOTE));
    return names.map((name) => name.slice(0, -NOTE.length));
  }

  /** Called once the engine knows no such container: ends its processes. A shim that is about to end keeps the note. */
  async end(name: string): Promise<void> {
    const id = readNote(this.#toPath(name));
    if (id === null) return;
    await endGroups(id);
    if (findShims(id).length === 0) rmSync(this.#toPath(name), { force: true });
  }

  /** As `end`, some time later: a shim that is still there waits for nobody. */
  async endAll(name: string): Promise<void> {
    const id = readNote(this.#toPath(name));
    if (id === null) return;
    for (const pid of findShims(id)) kill(pid);
    await endGroups(id);
    rmSync(this.#toPath(name), { force: true });
  }

  #toPath(name: string): string {
    return join(this.#folder, `${name}${NOTE}`);
  }
}

/**
 * Ends what is in the container's control groups, then removes them. Version 1 has a directory for each controller; an
 * engine that works with systemd names its groups otherwise.
 */
async function endGroups(id: string): Promise<void> {
  for (const parent of [MOUNT, ...readNames(MOUNT).map((name) => join(MOUNT, name))]) {
    await endGroup(join(parent, 'docker', id));
    await endGroup(join(parent, 'system.slice', `docker-${id}.scope`));
  }
}

async function endGroup(path: string): Promise<void> {
  for (let look = 0; look < 20 && isBusy(path); look += 1) {
    for (const pid of readText(join(path, 'cgroup.procs')).split('\n')) kill(Number(pid));
    await delay(50);
  }
}

/** Removes a group; true = somebody is in it. */
function isBusy(path: string): boolean {
  try {
    rmdirSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EBUSY';
  }
}

/** The process of containerd that stands above a container's first one. */
function findShims(id: string): readonly number[] {
  return readNames('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [program, ...args] = readText(`/proc/${pid}/cmdline`).split('\0');
      return program?.includes('containerd-shim') === true && args.includes(id);
    });
}

function kill(pid: number): void {
  if (!(pid > 1)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function readNote(path: string): string | null {
  const id = readText(path);
  return /^[0-9a-f]{64}$/.test(id) ? id : null;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readNames(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
