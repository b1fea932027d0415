import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'assay-launcher-'));
  mkdirSync(join(root, 'package', 'src', 'cli'), { recursive: true });
  cpSync(fileURLToPath(new URL('../../bin', import.meta.url)), join(root, 'package', 'bin'), {
    recursive: true,
  });
  writeFileSync(
    join(root, 'package', 'src', 'cli', 'main.ts'),
    'console.log("started", ...process.argv.slice(2));',
  );
  mkdirSync(join(root, 'package', 'node_modules'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

test('the launcher starts the program through a link, with its arguments', () => {
  symlinkSync('package/bin/assay', join(root, 'linked'));
  expect(launch('linked', ['run', 'two words'])).toMatchObject({
    status: 0,
    stdout: 'started run two words\n',
  });
});

test('a package below node_modules starts its built files', () => {
  const installed = join(root, 'node_modules', 'assay');
  cpSync(join(root, 'package'), installed, { recursive: true });
  rmSync(join(installed, 'node_modules'), { recursive: true });
  mkdirSync(join(installed, 'dist', 'cli'), { recursive: true });
  writeFileSync(join(installed, 'dist', 'cli', 'main.js'), 'console.log("built");');
  expect(launch('node_modules/assay/bin/assay')).toMatchObject({ status: 0, stdout: 'built\n' });
});

test('a Node that is too old is named, with what to do', () => {
  const old = join(root, 'old-node');
  writeFileSync(old, '#!/bin/sh\necho 18.20.1\n');
  chmodSync(old, 0o755);
  const { status, stderr } = launch('package/bin/assay', [], { ASSAY_NODE: old, PATH: '/usr/bin:/bin' });
  // The machine's own Node, found on PATH, may be new enough.
  if (status === 0) return;
  expect(stderr).toMatch(/Node 24 or newer is needed; found only 18\.20\.1/);
  expect(stderr).toMatch(/npm ci/);
});

test('missing packages are named, with what to do', () => {
  rmSync(join(root, 'package', 'node_modules'), { recursive: true });
  expect(launch('package/bin/assay')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/npm run demo/),
  });
});

function launch(path: string, args: readonly string[] = [], changes: Record<string, string> = {}) {
  const env = { PATH: process.env['PATH'] ?? '', ASSAY_NODE: process.execPath, ...changes };
  return spawnSync(join(root, path), args, { encoding: 'utf8', env });
}
