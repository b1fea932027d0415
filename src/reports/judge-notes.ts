import type { ReportRows } from '../domain/report-rows.ts';
import { toCostText } from './figure-text.ts';
import { toJudging } from './figures.ts';
import type { Note } from './report-schema.ts';

/** What a reader must know of the judges: what they cost, and whether one judges itself. */
export function toJudgeNotes({ run, models, cells }: ReportRows): readonly Note[] {
  const { judges = [] } = run;
  const own = judges.flatMap(({ judgeId, model }) => {
    const same = models.filter((one) => one.model === model && one.skippedReason === null);
    return same.map(({ modelId }) => {
      const text = `judge ${judgeId} is the model that ${modelId} is: models tend to prefer their own answers, so its verdicts on ${modelId} may be too good`;
      return { code: 'self_judged', requestName: null, modelId, text };
    });
  });
  return [...toCostNote(cells), ...own];
}

function toCostNote(cells: ReportRows['cells']): readonly Note[] {
  const { judging } = toJudging(cells);
  if (judging === undefined) return [];
  const { calls, costUsd } = judging;
  const cost = costUsd === null ? 'at an unknown cost' : `for ${toCostText(costUsd)}`;
  const text = `judges replied ${calls} ${calls === 1 ? 'time' : 'times'} ${cost}: part of the budget, and of no model's cost`;
  return [{ code: 'judges', requestName: null, modelId: null, text }];
}
