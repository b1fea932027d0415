import { readFileSync } from 'node:fs';

const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

/**
 * Name servers of this host that a container can ask by itself. Given by address, the engine's own resolver
 * asks them from inside the container, so that a cut network cuts names too; one on the host's loopback it
 * would ask from the host. Empty = the engine's choice.
 */
export function listResolvers(): readonly string[] {
  for (const file of FILES) {
    const found = [...readText(file).matchAll(/^nameserver\s+([\d.]+)\s*$/gm)].map(
      ([, address]) => address ?? '',
    );
    const usable = found.filter((address) => address !== '' && !address.startsWith('127.'));
    if (usable.length > 0) return usable;
  }
  return [];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
