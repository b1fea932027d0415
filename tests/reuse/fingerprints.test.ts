import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCanonicalJson } from '../../src/domain/canonical-json.ts';
import { formatDifference, listDifferences } from '../../src/domain/differences.ts';
import type { Json } from '../../src/domain/json.ts';
import { applyChange, BASE, CHANGES } from './changes.ts';
import { findFates, printDocument } from './prints.ts';

const base = await printDocument(BASE as unknown as Json);

test.each(CHANGES)('C7 after a change of $what cells are $fate', async (change) => {
  const changed = await printDocument(applyChange(change));
  const [first, second] = [...findFates(base, changed).values()];
  expect(first).toBe(change.fate);
  expect(second).toBe(change.oneCase === true ? 'kept' : change.fate);
  if (change.field?.startsWith('case.') !== false) return;
  const [before, after] = [base, changed].map((one): unknown =>
    JSON.parse(one.setups.get(one.tasks[0]?.prints.setupDigest ?? '') ?? ''),
  );
  expect(listDifferences(before, after).map(({ field }) => field)).toContain(change.field);
});

test('C7 defaults that are written out, and the order of keys, change no fingerprint', async () => {
  const written = applyChange({
    set: [
      ['models.0', { ...reversed(BASE.models[0]), params: reversed(BASE.models[0].params) }],
      ['requests.0.evaluation', 'reuse'],
      ['requests.0.retries', { max: 0, patterns: null }],
      [
        'requests.0.suite.scorers.0',
        { required: true, threshold: 1, weight: 1, name: 'exact', kind: 'exact' },
      ],
      ['requests.0.harness.tools', [{ name: 'bash', timeout: '60s', maxAttempts: 1 }, 'read_file']],
      ['requests.0.suite.cases.0.weight', 1],
      ['requests.0.limits.modelCallTime', '10m'],
    ],
  });
  expect(await printDocument(reversed(written))).toEqual(base);
});

test('equal JSON has one canonical text whatever the order of its keys, and other JSON another', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = toCanonicalJson(value);
      expect(toCanonicalJson(reversed(value as Json))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('two values differ in no field exactly when their canonical texts are equal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(listDifferences(a, b).length === 0).toBe(toCanonicalJson(a) === toCanonicalJson(b));
    }),
  );
});

test('a difference names the path, the value before and the value after', () => {
  const lines = listDifferences(
    { model: { params: { temperature: 0 } }, context: { a: [1] } },
    { model: { params: { temperature: 0.7, seed: 1 } }, context: { a: [1] } },
  ).map(formatDifference);
  expect(lines).toEqual(['model.params.seed: absent -> 1', 'model.params.temperature: 0 -> 0.7']);
});

/** The same value with the keys of every object the other way round. */
function reversed<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map((one: Json) => reversed(one)) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([key, one]) => [key, reversed(one as Json)])) as T;
}
