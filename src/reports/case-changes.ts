import { redactPatterns } from '../domain/redact.ts';
import type { ReportCell } from '../domain/report-rows.ts';
import type { Pair } from '../statistics/paired.ts';
import type { CaseChange } from './comparison-schema.ts';
import { describeCell } from './failures.ts';
import type { SidePair } from './pair-sides.ts';

const ORDER = ['broken', 'lower', 'higher', 'fixed'] as const;

/** Cases whose passes or score differ, what broke first and the largest first within each. */
export function listChanges(pairs: readonly Pair[], { first, second }: SidePair): readonly CaseChange[] {
  const [before, after] = [first.cells, second.cells].map((cells) =>
    Map.groupBy(cells, (cell) => cell.caseId),
  );
  const changes = pairs.flatMap(({ own, other }): CaseChange[] => {
    const cells = after?.get(own.caseId) ?? [];
    const passes = toPassShare(cells) - toPassShare(before?.get(own.caseId) ?? []);
    if (passes === 0 && own.value === other.value) return [];
    const isBetter = passes > 0 || (passes === 0 && own.value > other.value);
    const kind = passes === 0 ? (isBetter ? 'higher' : 'lower') : isBetter ? 'fixed' : 'broken';
    const { caseId } = own;
    return [{ caseId, kind, first: other.value, second: own.value, explanation: explain(cells) }];
  });
  return changes.toSorted(
    (a, b) =>
      ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) ||
      Math.abs(b.second - b.first) - Math.abs(a.second - a.first),
  );
}

/** Of scored attempts. */
function toPassShare(cells: readonly ReportCell[]): number {
  const passes = cells.flatMap(({ outcome }) => (outcome?.kind === 'scored' ? [Number(outcome.pass)] : []));
  return passes.length === 0 ? 0 : passes.reduce((sum, pass) => sum + pass, 0) / passes.length;
}

function explain(cells: readonly ReportCell[]): string | null {
  const faults = cells.flatMap((cell) =>
    cell.outcome?.kind === 'scored' ? (describeCell(cell)?.message ?? []) : [],
  );
  const [first] = faults;
  return first === undefined ? null : redactPatterns(first);
}
