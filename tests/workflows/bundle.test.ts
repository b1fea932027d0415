import { builtinModules } from 'node:module';
import { readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadWorkflowBundle } from '../../src/worker/workflow-bundle.ts';
import { BUNDLE_FOLDER } from '../support/bundle-folder.ts';

/** Measured 1.86 MB with its source map, which is most of it; every cached workflow pays for what is in here. */
const MAX_BYTES = 2_300_000;

test('the bundle of the workflows holds no zod, no module of Node, no code that does things, and stays small', async () => {
  const { codePath } = await loadWorkflowBundle(BUNDLE_FOLDER);
  expect((await stat(codePath)).size).toBeLessThan(MAX_BYTES);
  const code = await readFile(codePath, 'utf8');
  const modules = [...code.matchAll(/^\/\*\*\*\/ "([^"]+)"/gm)].map((match) => match[1] ?? '');
  expect(modules.some((name) => name.endsWith('src/workflows/run.ts'))).toBe(true);
  const foreign = modules.filter((name) =>
    /node_modules\/(?!@temporalio\/|long\/|ms\/|nexus-rpc\/)/.test(name),
  );
  expect(foreign).toEqual([]);
  const own = modules.filter((name) => name.includes('/src/') && !name.includes('node_modules'));
  expect(own.filter((name) => !/\/src\/(workflows|domain)\//.test(name))).toEqual([]);
  const builtIn = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
  expect(
    modules.filter((name) => builtIn.has(name) && name !== 'assert' && name !== 'url' && name !== 'util'),
  ).toEqual([]);
}, 60_000);
