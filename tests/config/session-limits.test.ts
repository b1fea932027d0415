import { afterEach, expect, test, vi } from 'vitest';
import { readSessionLimits } from '../../src/config/session-limits.ts';

afterEach(() => vi.unstubAllEnvs());

test('the number of sessions of a host is set by variables, each over its default', () => {
  expect(readSessionLimits()).toEqual({
    capacities: { host: 64, bubblewrap: 64, docker: 16 },
    opensPerSecond: 0,
  });
  vi.stubEnv('ASSAY_SESSIONS', 'docker=8, bubblewrap=2');
  vi.stubEnv('ASSAY_OPENS_PER_SECOND', '0.5');
  expect(readSessionLimits()).toEqual({
    capacities: { host: 64, bubblewrap: 2, docker: 8 },
    opensPerSecond: 0.5,
  });
});

test('a value that cannot be read is told with its variable', () => {
  vi.stubEnv('ASSAY_SESSIONS', 'dokcer=8');
  expect(readSessionLimits).toThrow(
    'ASSAY_SESSIONS has "dokcer=8"; expected host, bubblewrap, docker with a number',
  );
  vi.stubEnv('ASSAY_SESSIONS', '');
  vi.stubEnv('ASSAY_OPENS_PER_SECOND', 'fast');
  expect(readSessionLimits).toThrow('ASSAY_OPENS_PER_SECOND has "fast"; expected a number from 0');
});
