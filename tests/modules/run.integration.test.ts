import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { startRun } from '../../src/client/start-run.ts';
import { loadRunFile } from '../../src/modules/load-run-file.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { loadCells } from '../workflows/support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

async function runModule(path: string) {
  const loaded = await loadRunFile({ path, catalog: createBuiltInCatalog() });
  const { runId } = await startRun(assay.connection, { loaded, runId: createTestRunId(), approved: false });
  const result = await assay.result(runId);
  return { runId, result, cells: await loadCells(assay, runId) };
}

test('the example runs: an agent calls its tool without an environment, its scorer judges', async () => {
  const { result, cells } = await runModule('examples/typescript/run.ts');
  expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 4 } });
  expect(cells.map(({ model_id, case_id, score, pass }) => [model_id, case_id, score, pass])).toEqual([
    ['careful', 'sent', 1, true],
    ['hasty', 'sent', 0.5, false],
    ['careful', 'waiting', 1, true],
    ['hasty', 'waiting', 0.5, false],
  ]);
});
