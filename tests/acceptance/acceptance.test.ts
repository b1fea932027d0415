import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const { formatAcceptance, findShown, listIds } = (await import('../../scripts/acceptance.mjs' as string)) as {
  formatAcceptance: () => string;
  findShown: () => ReadonlyMap<string, ReadonlySet<string>>;
  listIds: () => readonly string[];
};

test('the table of acceptance cases says what the names of the tests say', () => {
  expect(readFileSync('docs/acceptance.md', 'utf8')).toBe(formatAcceptance());
});

test('every id in the name of a test is one of a known acceptance case', () => {
  const known = new Set(listIds());
  expect([...findShown().keys()].filter((id) => !known.has(id))).toEqual([]);
});
