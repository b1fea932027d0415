import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readKey, readSettings } from '../../src/config/environment-variables.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('settings come from the environment, and an empty variable is an unset one', () => {
  for (const name of ['DATABASE_URL', 'ASSAY_DIR', 'XDG_CACHE_HOME', 'NO_COLOR', 'CI']) vi.stubEnv(name, '');
  vi.stubEnv('TERM', 'xterm');
  expect(readSettings()).toMatchObject({
    databaseUrl: null,
    dataDir: resolve('.assay'),
    noColor: false,
    ci: false,
  });
  vi.stubEnv('DATABASE_URL', 'postgres://h/d');
  vi.stubEnv('ASSAY_DIR', '/data');
  vi.stubEnv('XDG_CACHE_HOME', '/cache');
  vi.stubEnv('NO_COLOR', '1');
  vi.stubEnv('CI', 'true');
  vi.stubEnv('ASSAY_WORKER', 'elsewhere');
  expect(readSettings()).toEqual({
    databaseUrl: 'postgres://h/d',
    dataDir: '/data',
    cacheDir: '/cache/assay',
    worker: 'elsewhere',
    noColor: true,
    dumbTerminal: false,
    ci: true,
  });
});

test('a key is read by the name that a run file gives', () => {
  vi.stubEnv('SOME_KEY', 'value');
  expect(readKey('SOME_KEY')).toBe('value');
  expect(readKey('SOME_OTHER_KEY')).toBeNull();
});
