import type { ReportCell } from '../domain/report-rows.ts';
import { describeCell } from './failures.ts';
import { type Markup, markup } from './markup.ts';

/** Cells that a page draws; what is beyond is counted. */
const MOST_CELLS = 25_000;

/** Case by model: passed attempts of each, cases that fail most first. */
export function drawMatrix(cells: readonly ReportCell[], modelIds: readonly string[]): Markup {
  const byCase = [...Map.groupBy(cells, (cell) => cell.caseId)].toSorted(
    ([, a], [, b]) => countFailing(b) - countFailing(a),
  );
  const shown = byCase.slice(0, Math.max(1, Math.floor(MOST_CELLS / Math.max(1, modelIds.length))));
  const hidden = byCase.length - shown.length;
  const [first = [], ...others] = toParts(shown);
  return markup`${drawTable(first, modelIds)}${others.map((part, index) => {
    const from = (index + 1) * PART;
    return markup`<details><summary>cases ${from + 1} to ${from + part.length}</summary>${drawTable(part, modelIds)}</details>`;
  })}${hidden > 0 ? markup`<p class="soft">${hidden} more cases are in the CSV and JSON forms.</p>` : null}`;
}

type CaseCells = readonly [string, readonly ReportCell[]];

/** Cases that are drawn at once: what is folded away costs a browser nothing. */
const PART = 100;

const toParts = (cases: readonly CaseCells[]): readonly (readonly CaseCells[])[] =>
  Array.from({ length: Math.ceil(cases.length / PART) }, (_, index) =>
    cases.slice(index * PART, (index + 1) * PART),
  );

function drawTable(cases: readonly CaseCells[], modelIds: readonly string[]): Markup {
  const heads = modelIds.map((modelId) => markup`<th scope="col">${modelId}</th>`);
  const lines = cases.map(([caseId, own]) => {
    const byModel = Map.groupBy(own, (cell) => cell.modelId);
    return markup`<tr><th scope="row">${caseId}</th>${modelIds.map((modelId) => drawCell(byModel.get(modelId) ?? []))}</tr>`;
  });
  return markup`<div class="scroll tall" tabindex="0" role="region" aria-label="Cases by models"><table class="matrix">
<thead><tr><th scope="col" class="text">case</th>${heads}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

const countFailing = (cells: readonly ReportCell[]): number =>
  cells.filter((cell) => describeCell(cell) !== null).length;

/** ✓ all passed, ✗ none, 2/3 some; a word for what has no score. */
function drawCell(cells: readonly ReportCell[]): Markup {
  const scored = cells.filter(({ outcome }) => outcome?.kind === 'scored');
  const passes = scored.filter(({ outcome }) => outcome?.kind === 'scored' && outcome.pass).length;
  if (cells.length === 0) return markup`<td></td>`;
  if (scored.length === 0) {
    const kind = cells[0]?.outcome?.kind ?? 'unrecorded';
    return markup`<td class="none">${kind.replaceAll('_', ' ')}</td>`;
  }
  if (passes === cells.length) return markup`<td class="pass">✓</td>`;
  if (passes === 0 && scored.length === cells.length) return markup`<td class="fail">✗</td>`;
  return markup`<td class="part">${passes}/${cells.length}</td>`;
}
