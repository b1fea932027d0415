import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findUnable } from '../../src/domain/environment-abilities.ts';
import type { NetworkPolicy } from '../../src/domain/network-policy.ts';
import { createAdmission } from '../../src/environments/network-targets.ts';

const byte = fc.nat(255);
/** Few different ones, so that many are asked for that are near what is allowed. */
const address = fc.tuple(fc.constantFrom(10, 127), fc.constantFrom(0, 1), byte, byte);
const port = fc.constantFrom(null, 80, 443);

type Address = readonly [number, number, number, number];
type Range = { readonly address: Address; readonly bits: number; readonly port: number | null };

const range = fc.record({ address, bits: fc.integer({ min: 1, max: 32 }), port });

const toNumber = (parts: Address): number => parts.reduce((sum, part) => sum * 256 + part, 0);

const toText = ({ address: parts, bits, port: at }: Range): string =>
  `${parts.join('.')}${bits === 32 ? '' : `/${bits}`}${at === null ? '' : `:${at}`}`;

const holds = ({ address: from, bits, port: at }: Range, to: Address, asked: number): boolean => {
  const size = 2 ** (32 - bits);
  return (
    Math.floor(toNumber(from) / size) === Math.floor(toNumber(to) / size) && (at === null || at === asked)
  );
};

test('AC-N3 addresses are admitted where a target of the list holds them with their port, and nowhere else', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(range, { maxLength: 4 }),
      address,
      fc.constantFrom(80, 443, 8080),
      async (allow, to, at) => {
        const admitted = await createAdmission(allow.map(toText))(to.join('.'), at);
        expect(admitted).toBe(allow.some((one) => holds(one, to, at)) ? to.join('.') : null);
      },
    ),
    { numRuns: 500 },
  );
});

test('AC-N3 a name that is neither in the list nor below a wildcard of it is admitted nowhere', async () => {
  const label = fc.constantFrom('a', 'b', 'api', 'example');
  const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => `${labels.join('.')}.invalid`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), name), { maxLength: 4 }), name, async (allow, asked) => {
      const targets = allow.map(([below, host]) => (below ? `*.${host}` : host));
      fc.pre(!allow.some(([below, host]) => (below ? asked.endsWith(`.${host}`) : asked === host)));
      // Nobody is asked where such a name leads.
      expect(await createAdmission(targets)(asked, 443)).toBeNull();
    }),
    { numRuns: 200 },
  );
});

test('AC-N3 an environment that cannot hold a policy is refused, whatever else it can, and never opened wider', () => {
  const policy = fc.constantFrom<NetworkPolicy>(
    { mode: 'public' },
    { mode: 'none' },
    { mode: 'allowlist', allow: ['example.com'] },
  );
  const modes = fc.subarray<NetworkPolicy['mode']>(['public', 'none', 'allowlist']);
  fc.assert(
    fc.property(
      fc.record({ baseline: policy, run: policy, evaluation: policy }),
      modes,
      (network, networks) => {
        const problems = findUnable(
          {
            spec: { kind: 'host', network, variables: {}, image: null, resources: NO_LIMITS, keepMs: null },
            proxy: false,
          },
          { problem: null, networks, switchesNetwork: true, reachesWorker: true, resources: [], notes: [] },
        );
        const missing = Object.values(network).some(({ mode }) => !networks.includes(mode));
        expect(problems.length > 0).toBe(missing);
      },
    ),
  );
});

const NO_LIMITS = { cpus: null, memoryBytes: null, reservedMemoryBytes: null, pids: null, diskBytes: null };
