import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasStack, toStackOptions } from '../../src/cli/open-assay.ts';

test('a data folder whose stack file was damaged still has its runs', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-data-'));
  try {
    expect(hasStack({ databaseUrl: null, dataDir })).toBe(false);
    writeFileSync(join(dataDir, 'postgres.password'), 'word');
    writeFileSync(join(dataDir, 'stack.json'), '{"format":7');
    expect(hasStack({ databaseUrl: null, dataDir })).toBe(true);
    expect(hasStack({ databaseUrl: 'postgres://host/db', dataDir: '/nowhere' })).toBe(true);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test('commands start a worker of their own unless they are told that workers run elsewhere', () => {
  const commandFor = (worker: string | null) => {
    const settings = { ...EMPTY_SETTINGS, worker };
    return toStackOptions({ settings, json: false, note: () => undefined }).workerCommand;
  };
  expect(commandFor(null)?.slice(1)).toEqual(['worker', '--stack']);
  expect(commandFor('elsewhere')).toBeNull();
  expect(() => commandFor('off')).toThrow('ASSAY_WORKER is "off": expected "elsewhere"');
});

const EMPTY_SETTINGS = {
  databaseUrl: null,
  dataDir: '/data',
  cacheDir: '/cache',
  noColor: true,
  dumbTerminal: false,
  ci: true,
};
