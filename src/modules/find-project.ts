import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the nearest package.json at or above a folder; the folder itself when there is none. */
export function findProject(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) return folder;
  }
}

export const CONFIG_NAMES: readonly string[] = ['assay.config.ts', 'assay.config.mts', 'assay.config.js'];

/** `assay.config.ts` beside a run file or above it, inside its project; null = there is none. */
export function findConfigFile(folder: string): string | null {
  const project = findProject(folder);
  for (let at = folder; ; at = dirname(at)) {
    const found = CONFIG_NAMES.map((name) => join(at, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
    if (at === project || dirname(at) === at) return null;
  }
}
