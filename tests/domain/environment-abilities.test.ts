import { describe, expect, test } from 'vitest';
import { findUnable, type EnvironmentAbilities } from '../../src/domain/environment-abilities.ts';
import { PUBLIC, type NetworkPolicy } from '../../src/domain/network-policy.ts';
import { NO_LIMITS, RESOURCE_NAMES, type ResourceLimits } from '../../src/domain/resources.ts';
import type { SessionSpec } from '../../src/domain/run.ts';

const LIMITS: { readonly [name: string]: Partial<ResourceLimits> } = {
  cpus: { cpus: 1 },
  memory: { memoryBytes: 1 << 20 },
  pids: { pids: 5 },
  disk: { diskBytes: 1 << 20 },
};
const NONE: NetworkPolicy = { mode: 'none' };
const KINDS = ['host', 'bubblewrap', 'docker'] as const;

const toSpec = (kind: SessionSpec['kind'], more: Partial<SessionSpec> = {}): SessionSpec => ({
  kind,
  variables: {},
  image: null,
  network: { baseline: PUBLIC, run: PUBLIC, evaluation: PUBLIC },
  resources: NO_LIMITS,
  keepMs: null,
  ...more,
});

const ALL: EnvironmentAbilities = {
  problem: null,
  networks: ['public', 'none', 'allowlist'],
  switchesNetwork: true,
  reachesWorker: true,
  resources: RESOURCE_NAMES,
  notes: [],
};

describe.each(KINDS)('environment %s', (kind) => {
  test.each(RESOURCE_NAMES)(
    'a limit of %s that does not hold is refused by name, and asked for alone',
    (name) => {
      const spec = toSpec(kind, { resources: { ...NO_LIMITS, ...LIMITS[name] } });
      const without = {
        ...ALL,
        resources: RESOURCE_NAMES.filter((one) => one !== name),
        notes: ['no groups'],
      };
      expect(findUnable({ spec, proxy: false }, without)).toEqual([
        `environment ${kind} cannot hold the limit resources.${name} here (no groups); remove it`,
      ]);
      expect(findUnable({ spec, proxy: false }, { ...ALL, resources: [name] })).toEqual([]);
    },
  );

  test('AC-N1 AC-N2 a network that changes needs an environment that can change it, the same one in all phases does not', () => {
    const fixed = { ...ALL, switchesNetwork: false };
    const changing = toSpec(kind, { network: { baseline: PUBLIC, run: NONE, evaluation: NONE } });
    expect(findUnable({ spec: changing, proxy: false }, fixed)).toEqual([
      `environment ${kind} cannot change the network of an open session`,
    ]);
    expect(findUnable({ spec: changing, proxy: false }, ALL)).toEqual([]);
    const same = toSpec(kind, { network: { baseline: NONE, run: NONE, evaluation: NONE } });
    expect(findUnable({ spec: same, proxy: false }, fixed)).toEqual([]);
    expect(findUnable({ spec: same, proxy: false }, { ...fixed, networks: ['public'] })).toEqual([
      `environment ${kind} cannot hold network "none" here`,
    ]);
  });

  test('AC-N6 an agent whose calls go through the recording proxy needs a way to it', () => {
    const unable = findUnable({ spec: toSpec(kind), proxy: true }, { ...ALL, reachesWorker: false });
    expect(unable).toEqual([`environment ${kind} reaches no recording proxy here`]);
  });

  test('what cannot be opened at all says why, and nothing else', () => {
    expect(
      findUnable({ spec: toSpec(kind), proxy: false }, { ...ALL, problem: 'start it', resources: [] }),
    ).toEqual(['start it']);
  });
});
