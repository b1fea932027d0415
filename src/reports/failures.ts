import { findFault } from '../domain/fault.ts';
import type { OutcomeKind } from '../domain/outcome.ts';
import { redactPatterns } from '../domain/redact.ts';
import type { ReportCell } from '../domain/report-rows.ts';
import type { Score } from '../domain/score.ts';
import type { Failure } from './report-schema.ts';

const LISTED = 1_000;
const EXAMPLES = 5;

/** What needs a hand first: faults of the model, then of the world, then what never ran, then wrong answers. */
const ORDER: readonly Failure['outcome'][] = [
  'error',
  'refused',
  'unscored',
  'infra',
  'interrupted',
  'unrecorded',
  'not_run',
  'skipped',
  'wrong',
];

/** Failing cells, one group for each cause; the list is cut at a thousand groups, the count is not. */
export function listFailures(cells: readonly ReportCell[]): {
  readonly failures: Failure[];
  readonly failureCount: number;
} {
  const groups = new Map<string, Failure>();
  for (const cell of cells) {
    const failure = toFailure(cell);
    if (failure !== null) addTo(groups, failure);
  }
  const failures = [...groups.values()].toSorted(
    (a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome),
  );
  return { failures: failures.slice(0, LISTED).map(redact), failureCount: failures.length };
}

const redact = (failure: Failure): Failure => ({
  ...failure,
  message: redactPatterns(failure.message),
  answerPreview: failure.answerPreview && redactPatterns(failure.answerPreview),
});

/** Why a cell has no pass; null = it has. */
export function describeCell({ outcome, scores }: ReportCell): CellFault | null {
  if (outcome === null)
    return { outcome: 'unrecorded', code: null, phase: null, message: 'planned and not recorded' };
  if (outcome.kind !== 'scored') return { outcome: outcome.kind, ...outcome.reason };
  if (outcome.pass) return null;
  const fault = findFault(scores);
  return { outcome: 'wrong', code: fault?.kind ?? null, phase: null, message: explainWrong(fault) };
}

export type CellFault = Pick<Failure, 'outcome' | 'code' | 'phase' | 'message'>;

function toFailure(cell: ReportCell): Failure | null {
  const fault = describeCell(cell);
  if (fault === null) return null;
  const { task, caseId, attempt, generation } = cell;
  return {
    ...fault,
    requestName: fault.outcome === 'skipped' ? null : cell.requestName,
    modelId: cell.modelId,
    cells: 1,
    examples: [{ task, caseId, attempt, generation }],
    answerPreview: cell.answerPreview,
  };
}

function addTo(groups: Map<string, Failure>, failure: Failure): void {
  const key = JSON.stringify([
    failure.requestName,
    failure.modelId,
    failure.outcome,
    // Wrong answers of one case belong together whatever they say; faults with one reason do, whatever the case.
    failure.outcome === 'wrong' ? failure.examples[0]?.caseId : [failure.code, failure.message],
  ]);
  const group = groups.get(key);
  if (group === undefined) {
    groups.set(key, failure);
    return;
  }
  group.cells += 1;
  if (group.examples.length < EXAMPLES) group.examples.push(...failure.examples);
}

/** The one fault of a cell, by the scorer that found it. */
function explainWrong(fault: Score | null): string {
  return fault === null ? 'did not pass' : `${fault.scorer}: ${fault.verdict.explanation}`;
}

/** Outcomes that `assay resume` runs or grades again. */
export const RESUMABLE: readonly (OutcomeKind | 'unrecorded')[] = [
  'not_run',
  'interrupted',
  'infra',
  'skipped',
  'unscored',
  'unrecorded',
];
