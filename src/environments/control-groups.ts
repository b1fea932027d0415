import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EnforcedResources, ResourceLimits, ResourceName } from '../domain/resources.ts';

type Controller = 'memory' | 'pids' | 'cpu';
const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu'];

/** Where this worker may make control groups. */
export type ControlGroups = {
  readonly version: 1 | 2;
  /** Directory that groups are made in, for each controller; in version 2 the same one. */
  readonly parents: ReadonlyMap<Controller, string>;
};

export type GroupCounters = { readonly outOfMemory: number; readonly forksRefused: number };

const MOUNT = '/sys/fs/cgroup';
const CPU_PERIOD_US = 100_000;

/**
 * The controllers that this worker can use: all of version 1 as root; of version 2 those that are handed down
 * to the group that the worker's own group is in (as systemd does for services and users). Null = none.
 */
export function findControlGroups(): ControlGroups | null {
  const version = existsSync(join(MOUNT, 'cgroup.controllers')) ? 2 : 1;
  const found = new Map<Controller, string>();
  for (const controller of CONTROLLERS) {
    const parent = version === 2 ? findParent(controller) : join(MOUNT, controller);
    if (parent !== null && canMakeGroups(parent)) found.set(controller, parent);
  }
  return found.size === 0 ? null : { version, parents: found };
}

function findParent(controller: Controller): string | null {
  const own = /^0::(.*)$/m.exec(readText('/proc/self/cgroup'))?.[1] ?? '/';
  const parent = join(MOUNT, dirname(own));
  const control = join(parent, 'cgroup.subtree_control');
  if (!readText(control).split(/\s/).includes(controller)) tryWrite(control, `+${controller}`);
  return readText(control).split(/\s/).includes(controller) ? parent : null;
}

function canMakeGroups(parent: string): boolean {
  const probe = join(parent, `assay-probe-${process.pid}`);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    return false;
  }
}

/** Limits that groups can hold here. */
export function limitsOf(groups: ControlGroups | null): readonly ResourceName[] {
  const names: readonly [Controller, ResourceName][] = [
    ['cpu', 'cpus'],
    ['memory', 'memory'],
    ['pids', 'pids'],
  ];
  return names.filter(([controller]) => groups?.parents.has(controller) === true).map(([, name]) => name);
}

/** One group of that name for each controller, or one for all. */
export class ControlGroup {
  readonly #groups: ControlGroups;
  readonly #name: string;

  constructor(groups: ControlGroups, name: string) {
    this.#groups = groups;
    this.#name = name;
  }

  /** Makes the group and sets its limits. Returns them as they hold. Idempotent. */
  create(limits: ResourceLimits): EnforcedResources {
    for (const directory of this.#directories()) mkdirSync(directory, { recursive: true });
    const v2 = this.#groups.version === 2;
    if (limits.memoryBytes !== null) this.#limitMemory(limits.memoryBytes);
    if (limits.reservedMemoryBytes !== null) {
      const file = v2 ? 'memory.low' : 'memory.soft_limit_in_bytes';
      tryWrite(this.#file('memory', file), String(limits.reservedMemoryBytes));
    }
    if (limits.pids !== null) writeFileSync(this.#file('pids', 'pids.max'), String(limits.pids));
    if (limits.cpus !== null) {
      const quota = Math.max(1_000, Math.round(limits.cpus * CPU_PERIOD_US));
      if (v2) writeFileSync(this.#file('cpu', 'cpu.max'), `${quota} ${CPU_PERIOD_US}`);
      else writeFileSync(this.#file('cpu', 'cpu.cfs_quota_us'), String(quota));
    }
    return { ...limits, by: `control groups ${this.#groups.version}` };
  }

  /** Files that a process writes its number into to join. */
  listJoinFiles(): readonly string[] {
    return this.#directories().map((directory) => join(directory, 'cgroup.procs'));
  }

  readCounters(): GroupCounters {
    const memory = this.#groups.version === 2 ? 'memory.events' : 'memory.oom_control';
    return {
      outOfMemory: readCount(this.#file('memory', memory), 'oom_kill'),
      forksRefused: readCount(this.#file('pids', 'pids.events'), 'max'),
    };
  }

  /** A group with processes stays; `removeGroups` comes back to it. */
  remove(): void {
    for (const directory of this.#directories()) tryRemove(directory);
  }

  /** Swap is no way around: where the kernel counts it, it is part of the limit. */
  #limitMemory(bytes: number): void {
    if (this.#groups.version === 2) {
      writeFileSync(this.#file('memory', 'memory.max'), String(bytes));
      tryWrite(this.#file('memory', 'memory.swap.max'), '0');
      return;
    }
    writeFileSync(this.#file('memory', 'memory.limit_in_bytes'), String(bytes));
    tryWrite(this.#file('memory', 'memory.memsw.limit_in_bytes'), String(bytes));
  }

  #directories(): readonly string[] {
    return [...new Set(this.#groups.parents.values())].map((parent) => join(parent, this.#name));
  }

  #file(controller: Controller, name: string): string {
    return join(this.#groups.parents.get(controller) ?? '/nonexistent', this.#name, name);
  }
}

/** Removes empty groups whose name starts with `prefix` and is not among `names`. */
export function removeGroups(groups: ControlGroups, prefix: string, names: ReadonlySet<string>): void {
  for (const parent of new Set(groups.parents.values())) {
    for (const name of readdirSync(parent)) {
      if (name.startsWith(prefix) && !names.has(name)) tryRemove(join(parent, name));
    }
  }
}

function readCount(path: string, key: string): number {
  const line = readText(path)
    .split('\n')
    .find((one) => one.startsWith(`${key} `));
  return Number(line?.split(' ')[1] ?? 0);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function tryWrite(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch {
    // The kernel does not have it, or does not hand it down: the caller looks at what holds.
  }
}

function tryRemove(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Not there, or not empty yet.
  }
}
