import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { applyChange, BASE, CHANGES } from './changes.ts';
import { findFates, printDocument } from './prints.ts';

const PAGE = new URL('../../docs/reuse.md', import.meta.url);
const SECTION = /(<!-- changes -->\n)[\s\S]*?(<!-- \/changes -->)/;

/** From the fingerprints, before and after each change. */
async function drawTable(): Promise<string> {
  const base = await printDocument(BASE as unknown as Json);
  const rows: string[] = [];
  for (const change of CHANGES) {
    const fates = [...findFates(base, await printDocument(applyChange(change))).values()];
    const of = new Set(fates).size > 1 ? ' (that case alone)' : '';
    rows.push(`| ${change.what} | ${fates[0]}${of} | nothing: it keeps its plan |`);
  }
  return ['| Change | `--reuse` | `resume` |', '|---|---|---|', ...rows, ''].join('\n');
}

test('C7 AC-K6 the table of docs/reuse.md says what fingerprints say of every kind of change', async () => {
  const table = await drawTable();
  const write = (page: string): string => page.replace(SECTION, `$1${table}$2`);
  if (process.env['ASSAY_WRITE_REUSE'] === '1') writeFileSync(PAGE, write(readFileSync(PAGE, 'utf8')));
  const page = readFileSync(PAGE, 'utf8');
  expect(page, 'npm run reuse:table writes it again').toBe(write(page));
});
