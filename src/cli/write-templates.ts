import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClientError } from '../client/client-error.ts';
import { createTemplates } from '../config/templates.ts';
import { toResult, type CommandResult } from './command-result.ts';

/** `assay init [DIR]`. Throws a ClientError when one of the files is there already; then none is written. */
export async function writeTemplates(folder: string): Promise<CommandResult> {
  const templates = createTemplates(toSchemaPlace(resolve(folder)));
  const files = templates.map(({ path, text }) => ({ path: join(folder, path), text }));
  const taken = files.filter(({ path }) => existsSync(path)).map(({ path }) => path);
  if (taken.length > 0) {
    throw new ClientError(
      `${taken.join(' and ')} exist already and are left as they are. Give another folder: \`assay init DIR\`.`,
    );
  }
  await mkdir(folder, { recursive: true });
  for (const { path, text } of files) await writeFile(path, text, { flag: 'wx' });
  const paths = files.map(({ path }) => path);
  const runFile = paths.find((path) => path.endsWith('run.yaml')) ?? 'run.yaml';
  return toResult({
    document: { files: paths },
    text: paths.map((path) => `Wrote ${path}`).join('\n'),
    next: [`assay run ${runFile}`, `assay run ${runFile} --dry-run`],
  });
}

/** Where editors find the schemas: beside the project when Assay is installed in it, so that the file may travel. */
function toSchemaPlace(folder: string): string {
  const schemas = fileURLToPath(new URL('../../schemas', import.meta.url));
  const path = relative(folder, schemas);
  return isAbsolute(path) || path.startsWith(join('..', '..', '..')) ? schemas : join('.', path);
}
