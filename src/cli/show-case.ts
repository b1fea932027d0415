import { toTimeline } from '../client/attempt-timeline.ts';
import { ClientError } from '../client/client-error.ts';
import { findRun } from '../client/find-run.ts';
import { loadMessages } from '../client/load-messages.ts';
import { findNearest } from '../config/nearest.ts';
import type { Outcome } from '../domain/outcome.ts';
import { listAttempts, loadAttempt, type AttemptDetail, type AttemptHead } from '../store/attempt-detail.ts';
import { loadCases, loadPlan } from '../store/plans.ts';
import type { Db } from '../store/pool.ts';
import { loadReportRows } from '../store/report-rows.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { formatAttempt } from './format-attempt.ts';
import { withRuns } from './open-assay.ts';
import { formatOutcome } from './format-outcome.ts';
import { quoteWord } from './quote-word.ts';
import { toEarlierPage, toStepWindow, type StepRange } from './step-window.ts';
import { formatTextTable } from './text-table.ts';

/** Which attempts of a case are meant, and which steps of an attempt. */
export type CaseChoice = {
  readonly model?: string;
  readonly request?: string;
  readonly attempt?: number;
  readonly steps?: StepRange;
};

type CaseQuery = { readonly word: string; readonly caseId: string; readonly choice: CaseChoice };

type Named = { readonly requestName: string };

/** An attempt with the name of its request. */
export type NamedAttempt = AttemptDetail & Named;
type NamedHead = AttemptHead & Named;

/** `assay show RUN CASE`: the attempt that is meant, or a list when there are several. */
export const showCase = (query: CaseQuery, context: CommandContext): Promise<CommandResult> =>
  withRuns(context, ({ connection: { db } }) => describeCase(db, query, context));

/** `showCase` of a database. Throws a ClientError when the run has no such case or attempt. */
export async function describeCase(
  db: Db,
  { word, caseId, choice }: CaseQuery,
  { json }: Pick<CommandContext, 'json'>,
): Promise<CommandResult> {
  const { runId } = await findRun(db, word);
  const attempts = await listNamed(db, { runId, caseId });
  const meant = latestOnly(attempts.filter((attempt) => isMeant(attempt, choice)));
  if (meant.length === 0) throw new ClientError(describeNone(caseId, attempts));
  const [only] = meant;
  if (only === undefined || meant.length > 1) return toList(runId, caseId, meant);
  return await showAttempt(db, only, choice.steps ?? (json ? WHOLE : undefined));
}

/** A program gets all steps unless it asks for some. */
const WHOLE: StepRange = { from: 1, to: Number.MAX_SAFE_INTEGER };

async function showAttempt(db: Db, head: NamedHead, steps: StepRange | undefined): Promise<CommandResult> {
  const { key, requestIndex, requestName, caseId } = head;
  const { runId } = key;
  const attempt = { ...(await loadAttempt(db, head)), requestName };
  const timeline = toTimeline(attempt);
  const window = toStepWindow(timeline.steps, steps);
  if (window.from > Math.max(1, window.total))
    throw new ClientError(`This attempt has ${window.total} steps: there is no step ${window.from}.`);
  const cases = await loadCases(db, { runId, requestIndex, caseIds: [caseId] });
  const testCase = cases.get(caseId)?.testCase;
  if (testCase === undefined) throw new ClientError(`Run ${runId} has no case ${caseId}.`);
  const earlier = toEarlierPage(window);
  const page = earlier === null ? [] : [`${nameAttempt(head)} --steps ${earlier.from}-${earlier.to}`];
  const transcript = await loadMessages(db, attempt, window);
  return toResult({
    document: { attempt, timeline, testCase, window, transcript },
    text: formatAttempt({ attempt, testCase, transcript, window }),
    next: [...page, `assay show ${runId} ${quoteWord(caseId)}`, `assay report ${runId}`],
  });
}

/** The command that shows exactly this one. */
const nameAttempt = ({ key, requestName, modelId, caseId }: NamedHead): string =>
  `assay show ${key.runId} ${quoteWord(caseId)} --request ${quoteWord(requestName)} --model ${quoteWord(modelId)} --attempt ${key.attempt}`;

async function listNamed(
  db: Db,
  { runId, caseId }: { runId: string; caseId: string },
): Promise<readonly NamedHead[]> {
  const plan = await loadPlan(db, runId).catch(() => null);
  if (plan === null) throw new ClientError(`Run ${runId} was not planned: it has no cases to show.`);
  const details = await listAttempts(db, { runId, caseId });
  if (details.length > 0) {
    return details.map((detail) => ({
      ...detail,
      requestName: plan.requests[detail.requestIndex]?.spec.name ?? '',
    }));
  }
  const { cells } = await loadReportRows(db, runId);
  const near = findNearest(
    caseId,
    cells.map((cell) => cell.caseId),
  );
  const hint =
    near === null ? `It has, for example, ${cells[0]?.caseId ?? 'none'}.` : `Did you mean "${near}"?`;
  throw new ClientError(`Run ${runId} has no case "${caseId}". ${hint}`);
}

const isMeant = (attempt: NamedHead, { model, request, attempt: index }: CaseChoice): boolean =>
  (model === undefined || attempt.modelId === model) &&
  (request === undefined || attempt.requestName === request) &&
  (index === undefined || attempt.key.attempt === index);

/** Each attempt in its latest generation; what strategy `pass` took out of the plan is left out. */
function latestOnly(attempts: readonly NamedHead[]): readonly NamedHead[] {
  const latest = new Map<string, NamedHead>();
  for (const attempt of attempts) {
    const name = `${attempt.key.task}/${attempt.key.attempt}`;
    const known = latest.get(name);
    if (attempt.planned && (known === undefined || known.key.generation < attempt.key.generation))
      latest.set(name, attempt);
  }
  return [...latest.values()];
}

function describeNone(caseId: string, attempts: readonly NamedHead[]): string {
  const models = [...new Set(attempts.map((attempt) => attempt.modelId))].join(', ');
  const requests = [...new Set(attempts.map((attempt) => attempt.requestName))].join(', ');
  const last = Math.max(...attempts.map((attempt) => attempt.key.attempt));
  return `Case ${caseId} has no such attempt. Models: ${models}; requests: ${requests}; attempts: 1 to ${last}.`;
}

function toList(runId: string, caseId: string, attempts: readonly NamedHead[]): CommandResult {
  const rows = attempts.map((attempt) => [
    attempt.requestName,
    attempt.modelId,
    String(attempt.key.attempt),
    formatOutcome(attempt.outcome),
  ]);
  const [first] = attempts.toSorted((a, b) => rankOutcome(a.outcome) - rankOutcome(b.outcome));
  const one = `assay show ${runId} ${quoteWord(caseId)} --model ${quoteWord(first?.modelId ?? '')} --attempt ${first?.key.attempt ?? 1}`;
  const ambiguous = new Set(attempts.map((attempt) => attempt.requestName)).size > 1;
  return toResult({
    document: { attempts },
    text: formatTextTable({ heads: ['request', 'model', 'attempt', 'outcome'], rows, right: [2] }),
    next: [ambiguous ? `${one} --request ${quoteWord(first?.requestName ?? '')}` : one],
  });
}

/** What went wrong is looked at first. */
function rankOutcome(outcome: Outcome | null): number {
  if (outcome === null) return 3;
  if (outcome.kind === 'scored') return outcome.pass ? 2 : 0;
  return 1;
}
