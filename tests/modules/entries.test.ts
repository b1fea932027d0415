import { expect, test } from 'vitest';
import * as index from '../../src/index.ts';
import * as inRunFile from '../../src/modules/run-file-entry.ts';

test('the package, its published entry and the process of a run file give the same names', async () => {
  const names = Object.keys(index).toSorted();
  expect(Object.keys(inRunFile).toSorted()).toEqual(names);
  const published = (await import('../../entry.mjs' as string)) as object;
  expect(Object.keys(published).toSorted()).toEqual(names);
});
