import type { ReportCell } from '../domain/report-rows.ts';
import type { Figures } from './figure-schema.ts';

const NAMED = 20;

/** Cases of one model in one run that passed in some attempts and not in others; scored attempts only. */
export function findFlaky(cells: readonly ReportCell[]): Figures['flaky'] {
  const repeated = [...Map.groupBy(cells, (cell) => cell.caseId)].flatMap(([caseId, own]) => {
    const passes = own.flatMap(({ outcome }) => (outcome?.kind === 'scored' ? [outcome.pass] : []));
    return passes.length < 2 ? [] : [{ caseId, isFlaky: new Set(passes).size === 2 }];
  });
  const flaky = repeated.filter(({ isFlaky }) => isFlaky).map(({ caseId }) => caseId);
  return { cases: flaky.length, ofCases: repeated.length, caseIds: flaky.slice(0, NAMED) };
}
