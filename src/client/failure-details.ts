import { type Target, toTargetText } from '../domain/suite.ts';
import type { TestCase } from '../domain/suite.ts';
import type { FailureDetail } from '../reports/html-failures.ts';
import type { Report } from '../reports/report-schema.ts';
import { listAttempts, loadAttempt } from '../store/attempt-detail.ts';
import { loadCases, loadPlan } from '../store/plans.ts';
import type { Db } from '../store/pool.ts';
import { loadMessages } from './load-messages.ts';

/** Failures that are looked at closely; the page shows the start of the answer of the others. */
const LOOKED_AT = 50;

/** What was asked, expected and said in the first cell of each failure; those that never ran are left out. */
export async function loadFailureDetails(db: Db, report: Report): Promise<readonly FailureDetail[]> {
  const { runId } = report.run;
  const plan = await loadPlan(db, runId);
  const details: FailureDetail[] = [];
  for (const { requestName, modelId, examples, outcome } of report.failures.slice(0, LOOKED_AT)) {
    const [example] = examples;
    const requestIndex = plan.requests.find(({ spec }) => spec.name === requestName)?.index;
    if (example === undefined || requestIndex === undefined || outcome === 'not_run') continue;
    const { caseId, attempt, task, generation } = example;
    const attempts = await listAttempts(db, { runId, caseId, modelId });
    const meant = attempts.find(
      ({ key }) => key.task === task && key.attempt === attempt && key.generation === generation,
    );
    const stored = (await loadCases(db, { runId, requestIndex, caseIds: [caseId] })).get(caseId);
    if (meant === undefined || stored === undefined) continue;
    details.push({
      requestName,
      modelId,
      caseId,
      attempt,
      input: toInputText(stored.testCase),
      expected: toExpected(stored.target),
      transcript: await loadMessages(db, await loadAttempt(db, meant)),
    });
  }
  return details;
}

const toInputText = ({ input }: TestCase): string =>
  input.kind === 'text' ? input.text : input.messages.map(({ role, text }) => `${role}: ${text}`).join('\n');

const toExpected = (target: Target | null): string | null =>
  target === null ? null : target.values.map(toTargetText).join('\n');
