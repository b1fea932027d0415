import { expect, test } from 'vitest';
import { createTemplates } from '../../src/config/templates.ts';
import { loadFiles } from './support.ts';

test('the files of assay init load at once: six questions, two models, three scorers', async () => {
  const files = Object.fromEntries(createTemplates('./schemas').map(({ path, text }) => [path, text]));
  const { spec, suites, warnings } = await loadFiles(files);
  expect(warnings).toEqual([]);
  expect(spec.models.map(({ id }) => id)).toEqual(['mock:oracle', 'sometimes-wrong']);
  const [suite] = [...suites.values()];
  expect(suite?.cases).toHaveLength(6);
  const kinds = [suite?.scorers, ...(suite?.cases ?? []).map(({ testCase }) => testCase.scorers)]
    .flatMap((scorers) => scorers ?? [])
    .map(({ kind }) => kind);
  expect([...new Set(kinds)].toSorted()).toEqual(['exact', 'includes', 'numeric']);
});
