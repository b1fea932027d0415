import { bash } from './bash.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { submit } from './submit.ts';
import type { Tool } from './tool.ts';
import { writeFile } from './write-file.ts';

/** Every tool by its name: a new one is a file and a line here. */
const TOOLS: ReadonlyMap<string, Tool> = new Map(
  [bash, readFile, writeFile, listFiles, submit].map((tool) => [tool.schema.name, tool]),
);

/** Names that a run file may list. */
export const TOOL_NAMES: readonly string[] = [...TOOLS.keys()];

/** Those that act nowhere and are offered only where a run file names them. */
export const FREE_TOOL_NAMES: readonly string[] = TOOL_NAMES.filter(
  (name) => TOOLS.get(name)?.place === 'free',
);

/** Null for a name that no tool has. */
export const findTool = (name: string): Tool | null => TOOLS.get(name) ?? null;
