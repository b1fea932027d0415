import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ENDING = '.json';

/** What is known of the well-known agents, by name: one JSON file each in this folder, in the form of a run file. */
export function loadPresets(): ReadonlyMap<string, unknown> {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(ENDING));
  return new Map(
    names
      .toSorted()
      .map((name) => [
        name.slice(0, -ENDING.length),
        JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as unknown,
      ]),
  );
}
