import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadFailureDetails } from '../../src/client/failure-details.ts';
import { formatReport } from '../../src/cli/report-by-word.ts';
import { REPORT_FORMATS } from '../../src/cli/report-format.ts';
import { formatJson } from '../../src/reports/json.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { openTestStore } from '../store/support.ts';
import { buildCrowdedRun, CROWDED_CASES } from './crowded-run.ts';
import { storeRows } from './store-rows.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
const given = buildCrowdedRun();
beforeAll(async () => {
  store = await openTestStore();
  await storeRows(store.pool, given, { cases: CROWDED_CASES, target: '42' });
});
afterAll(() => store.close());

test('a crowded run comes back from Postgres as the rows that it was made of', async () => {
  expect(await loadReportRows(store.pool, given.run.runId)).toEqual(given);
});

const ENDINGS = {
  table: 'txt',
  markdown: 'md',
  json: 'json',
  html: 'html',
  csv: 'csv',
  junit: 'xml',
} as const;

test('the JSON form is valid against the schema that is kept for it', async () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../schemas/report.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const validate = new Ajv2020({ strict: false }).compile(schema);
  const report = JSON.parse(
    formatJson(summarize(await loadReportRows(store.pool, given.run.runId))),
  ) as unknown;
  expect({ isValid: validate(report), errors: validate.errors }).toEqual({ isValid: true, errors: null });
  expect(validate({ ...(report as object), more: 1 })).toBe(false);
});

test('AA-14 ties, holes, unscored, infra, unpriced, disqualified, skipped and stopped models: every form of the board, from rows in Postgres', async () => {
  const rows = await loadReportRows(store.pool, given.run.runId);
  const report = summarize(rows);
  const details = await loadFailureDetails(store.pool, report);
  for (const format of REPORT_FORMATS) {
    await expect(await formatReport({ rows, report, details }, format)).toMatchFileSnapshot(
      `../fixtures/reports/crowded.${ENDINGS[format]}`,
    );
  }
});
