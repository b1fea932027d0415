import { readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup';

/**
 * Removes the empty control groups of a container of an engine on this host that is gone: an engine that was killed
 * forgets them. Groups with processes stay. Version 1 has a directory for each controller; an engine that works with
 * systemd names its groups otherwise.
 */
export function removeContainerGroups(id: string): void {
  for (const parent of [MOUNT, ...listDirectories().map((name) => join(MOUNT, name))]) {
    for (const path of [join(parent, 'docker', id), join(parent, 'system.slice', `docker-${id}.scope`)]) {
      try {
        rmdirSync(path);
      } catch {
        // The rule: it is not there. Else somebody works in it.
      }
    }
  }
}

function listDirectories(): readonly string[] {
  try {
    return readdirSync(MOUNT, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
