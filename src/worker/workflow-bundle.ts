import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type Logger } from '@temporalio/worker';

const here = import.meta.url;
const extension = extname(here);

/** Bundles the workflow code; a bundle of the same sources and SDK is taken from the folder. */
export async function loadWorkflowBundle(folder: string): Promise<{ readonly codePath: string }> {
  const codePath = join(folder, `workflows-${await digestSources()}.js`);
  if (existsSync(codePath)) return { codePath };
  const { code } = await bundleWorkflowCode({ workflowsPath: workflowsPath(), logger: quiet });
  await mkdir(folder, { recursive: true });
  const partial = `${codePath}.${randomUUID()}`;
  await writeFile(partial, code);
  await rename(partial, codePath);
  return { codePath };
}

/** The module that exports every workflow. */
export const workflowsPath = (): string => fileURLToPath(new URL(`../workflows/index${extension}`, here));

/** Everything that a bundle depends on: workflow and domain sources, and the version of the SDK. */
async function digestSources(): Promise<string> {
  const root = fileURLToPath(new URL('..', here));
  const paths: string[] = [];
  for await (const path of glob(`{workflows,domain}/*${extension}`, { cwd: root })) paths.push(path);
  const { version } = createRequire(here)('@temporalio/worker/package.json') as { version: string };
  const hash = createHash('sha256').update(version);
  for (const path of paths.sort()) hash.update(path).update(await readFile(join(root, path)));
  return hash.digest('hex').slice(0, 16);
}

/** The bundler's progress is nobody's business. */
const quiet: Logger = new DefaultLogger('ERROR');
