import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { replaceFile } from '../../src/cli/write-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'assay-write-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file is replaced whole and nothing is left beside it', async () => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'report.json');
  writeFileSync(path, 'old');
  await replaceFile(path, 'new\n');
  expect(readFileSync(path, 'utf8')).toBe('new\n');
  expect(readdirSync(folder)).toEqual(['report.json']);
});

test('a target that cannot be written is told, and leaves nothing behind', async () => {
  mkdirSync(join(folder, 'taken'), { recursive: true });
  await expect(replaceFile(join(folder, 'taken'), 'x')).rejects.toThrow('it is a folder');
  await expect(replaceFile(join(folder, 'none', 'x'), 'x')).rejects.toThrow('its folder does not exist');
  expect(readdirSync(folder)).toEqual(['taken']);
});

test('a link goes on leading to the file that is replaced', async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'target'), 'old');
  symlinkSync('target', join(folder, 'link'));
  await replaceFile(join(folder, 'link'), 'new');
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('new');
  expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
});

test.skipIf(process.platform !== 'linux')(
  'C4 a full disk is told, and a device is never replaced by a file',
  async () => {
    await expect(replaceFile('/dev/full', 'x')).rejects.toThrow('the disk is full');
    expect(lstatSync('/dev/full').isCharacterDevice()).toBe(true);
  },
);
