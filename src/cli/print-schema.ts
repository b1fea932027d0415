import { readFile } from 'node:fs/promises';
import { toResult, type CommandResult } from './command-result.ts';

/** The JSON Schema as it is kept in the package. */
export async function printSchema(of: string): Promise<CommandResult> {
  const text = await readFile(new URL(`../../schemas/${of}.schema.json`, import.meta.url), 'utf8');
  return toResult({ document: JSON.parse(text) as unknown, text: text.trimEnd() });
}
