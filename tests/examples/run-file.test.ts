import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRun } from '../../src/config/load.ts';

const RUN_FILE = join(import.meta.dirname, '../../examples/quickstart/run.yaml');

test('the quickstart loads without a problem: 3 models, 24 and 12 cases, 3 attempts', async () => {
  const loaded = await loadRun({ source: { kind: 'file', path: RUN_FILE }, catalog: createBuiltInCatalog() });
  // Every case of the shell suite names its scorer, so that this warning says nothing here.
  expect(loaded.warnings.filter((warning) => !warning.includes('names no scorers'))).toEqual([]);
  expect(loaded.spec.models.map((model) => model.id)).toEqual(['careful', 'quick', 'sloppy']);
  expect(loaded.spec.requests).toMatchObject([
    { name: 'shell', harness: { kind: 'agent' }, environment: { kind: 'host' }, attempts: { k: 3 } },
    { name: 'questions', harness: { kind: 'direct' }, environment: { kind: 'none' }, attempts: { k: 3 } },
  ]);
  const counts = loaded.spec.requests.map(({ suiteKey }) => loaded.suites.get(suiteKey)?.cases.length);
  expect(counts).toEqual([24, 12]);
  const missing = [...loaded.suites.values()].flatMap(({ cases }) =>
    cases.flatMap(({ testCase }) =>
      Object.values(testCase.files).filter((digest) => !loaded.files.has(digest)),
    ),
  );
  expect(missing).toEqual([]);
});
