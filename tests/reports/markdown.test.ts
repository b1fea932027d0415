import { expect, test } from 'vitest';
import { chooseFormat } from '../../src/cli/report-format.ts';
import { formatMarkdown } from '../../src/reports/markdown.ts';
import { toCode, toMarkdownText } from '../../src/reports/markdown-text.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { formatTable } from '../../src/reports/table.ts';
import { buildCrowdedRun } from './crowded-run.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const crowded = summarize(buildCrowdedRun());

test('AA-14 a board with ties, holes, unpriced, skipped and stopped models reads well as Markdown', async () => {
  await expect(formatMarkdown(crowded)).toMatchFileSnapshot('expected/crowded.md');
});

test('what the table says, the Markdown says: statement, notes, gates, failures', () => {
  const table = formatTable(crowded, { width: 10_000, color: false });
  const markdown = formatMarkdown(crowded);
  const texts = [
    crowded.statement,
    ...crowded.boards.flatMap((board) => board.notes.map((note) => note.text)),
    ...crowded.gateFailures.map(({ message }) => message),
  ];
  for (const text of texts) {
    expect(table).toContain(text);
    expect(markdown).toContain(toMarkdownText(text));
  }
  const listed = crowded.failures.slice(0, 8);
  for (const { message } of listed) expect(markdown).toContain(toCode(message));
  expect(markdown).toContain('19 more');
});

const HOSTILE = '# a|b\r\n| --- | <img src=x> `code` *b* _i_ [l](http://x) & ~~s~~ \\| @octocat \u001B[2J';

test('nothing that a model or a file says becomes markup, a row, or a heading', async () => {
  const modelId = `m ${HOSTILE}`;
  const rows = buildRows({
    run: { name: HOSTILE },
    models: [buildModel(modelId), buildModel('skipped', { skippedReason: HOSTILE })],
    request: { name: HOSTILE, suiteName: HOSTILE },
    cells: buildCells({
      modelId,
      outcomes: { [`c ${HOSTILE}`]: [ended('error', 'x', `\`\`${HOSTILE}`)], other: [scored(1)] },
    }),
  });
  const text = formatMarkdown(summarize(rows));
  await expect(text).toMatchFileSnapshot('expected/hostile.md');
  expect(text).not.toContain('\u001B');
  const withoutCode = text.replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, '').replaceAll('<br>', '');
  expect(withoutCode).not.toMatch(/<|(?<!\\)`/);
  const table = text.split('\n').filter((line) => line.startsWith('|'));
  const countCells = (line: string): number => [...line.matchAll(/(?<!\\)\|/g)].length;
  expect(table.map(countCells)).toEqual(table.map(() => countCells(table[0] ?? '')));
  expect(table).toHaveLength(4);
});

test.each([
  ['plain text 1.5', 'plain text 1.5'],
  ['- a', String.raw`\- a`],
  ['1. a', String.raw`1\. a`],
  ['a\nb', 'a b'],
  ['snake_case|x', String.raw`snake\_case\|x`],
  ['a\\|b', String.raw`a\\\|b`],
  ['<b>&', '&lt;b&gt;&amp;'],
])('%j is shown as it is', (text, written) => {
  expect(toMarkdownText(text)).toBe(written);
});

test.each([
  ['x', '`x`'],
  ['a `b` c', '``a `b` c``'],
  ['``', '``` `` ```'],
  ['', ''],
])('%j as code', (text, written) => {
  expect(toCode(text)).toBe(written);
});

test.each([
  [undefined, undefined, 'table'],
  [undefined, 'board.MD', 'markdown'],
  [undefined, 'a.b/board', 'table'],
  [undefined, 'board.json', 'json'],
  ['table', 'board.md', 'table'],
] as const)('form %s and file %s give %s', (given, output, form) => {
  expect(chooseFormat(given, output)).toBe(form);
});
