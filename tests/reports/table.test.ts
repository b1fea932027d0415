import { readFileSync } from 'node:fs';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { formatJson } from '../../src/reports/json.ts';
import { toReportJsonSchema } from '../../src/reports/report-schema.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { formatTable } from '../../src/reports/table.ts';
import { buildCrowdedRun } from './crowded-run.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const crowded = summarize(buildCrowdedRun());

const small = summarize(
  buildRows({
    models: [buildModel('mock:oracle'), buildModel('mock:echo')],
    request: { caseCount: 8 },
    cells: ['mock:oracle', 'mock:echo'].flatMap((modelId) =>
      buildCells({
        modelId,
        outcomes: Object.fromEntries(
          Array.from({ length: 8 }, (_, index) => [
            `q${index + 1}`,
            [scored(modelId === 'mock:oracle' ? 1 : 0)],
          ]),
        ),
      }),
    ),
  }),
);

test.each([80, 120])(
  'AA-14 a board with ties, holes, unpriced, skipped and stopped models reads well in %d columns',
  async (width) => {
    const text = formatTable(crowded, { width, color: false });
    await expect(text).toMatchFileSnapshot(`expected/crowded-${width}.txt`);
  },
);

test('a small board reads well', async () => {
  await expect(formatTable(small, { width: 80, color: false })).toMatchFileSnapshot('expected/small-80.txt');
});

test.each([60, 80, 100, 200])('no line is wider than %d columns', (width) => {
  for (const color of [true, false]) {
    for (const line of formatTable(crowded, { width, color }).split('\n')) {
      expect({ line, isTooWide: stringWidth(line) > width }).toEqual({ line, isTooWide: false });
    }
  }
});

// The escape character that begins a colour.
const ESCAPE = String.fromCodePoint(27);

test('colour is a choice and changes no letter', () => {
  const plain = formatTable(crowded, { width: 80, color: false });
  const coloured = formatTable(crowded, { width: 80, color: true });
  expect(plain).not.toContain(ESCAPE);
  expect(coloured).toContain(ESCAPE);
  const stripped = coloured.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '');
  const trim = (text: string) => text.split('\n').map((line) => line.trimEnd());
  expect(trim(stripped)).toEqual(trim(plain));
});

test('nothing that a model or a file says can steer the terminal', () => {
  const hostile = `${ESCAPE}[2J\u0007\u202evil\r\n\ud800`;
  const cells = buildCells({
    modelId: `m${hostile}`,
    outcomes: { [`c${hostile}`]: [ended('error', 'x', hostile)] },
  });
  const rows = buildRows({
    run: { name: `run${hostile}` },
    models: [buildModel(`m${hostile}`)],
    request: { name: `r${hostile}`, suiteName: hostile },
    cells,
  });
  const text = formatTable(summarize(rows), { width: 80, color: false });
  expect(text).not.toMatch(new RegExp(`[${ESCAPE}\\u0007\\u202e\\r]`));
  expect(text.isWellFormed()).toBe(true);
});

test('wide letters keep the columns in line', () => {
  const models = [buildModel('模型模型模型模型模型模型模型模型模型模型'), buildModel('plain')];
  const cells = models.flatMap(({ modelId }) =>
    buildCells({ modelId, outcomes: { a: [scored(1)], b: [scored(0)] } }),
  );
  for (const line of formatTable(summarize(buildRows({ models, cells })), { width: 70, color: false }).split(
    '\n',
  )) {
    expect({ line, isTooWide: stringWidth(line) > 70 }).toEqual({ line, isTooWide: false });
  }
});

test('the JSON report is strict JSON with a version', () => {
  expect(JSON.parse(formatJson(crowded))).toEqual(crowded);
  expect(crowded).toMatchObject({ format: 'assay-report', version: 1 });
});

test('the kept JSON Schema is the one of the report', () => {
  const kept = readFileSync(new URL('../../schemas/report.schema.json', import.meta.url), 'utf8');
  expect(JSON.parse(kept)).toEqual(JSON.parse(JSON.stringify(toReportJsonSchema())));
});
