import { gradeAttempt } from '../domain/grade.ts';
import type { JudgeOpinion } from '../domain/judge.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Score, ScorerVerdict } from '../domain/score.ts';
import type {
  RecordAllInput,
  RecordAllResult,
  RecordInput,
  RecordResult,
  RecordTryInput,
  RecordTryResult,
  WarningInput,
} from '../domain/step.ts';
import type { ScorerSpec, Target } from '../domain/suite.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { createCodeRunner } from '../modules/code-scorer.ts';
import { runScorer } from '../scorers/guard.ts';
import type { Measured, ScoredAttempt } from '../scorers/scorer.ts';
import { turned } from '../scorers/verdict.ts';
import { recordAttempts, type AttemptRecord, type RecordAnswer } from '../store/attempts.ts';
import { noteWarning } from '../store/attempt-warnings.ts';
import { loadMeasured } from '../store/measured.ts';
import type { Origin } from '../store/origins.ts';
import { recordDiscardedTry } from '../store/tries.ts';
import { analyze } from './analyze.ts';
import { findAnswered } from './answered.ts';
import type { Dependencies } from './dependencies.ts';
import type { CellPlace } from './run-reader.ts';
import { loadOpinions, pickOpinions } from './opinions.ts';
import { findRunScorer, placeOfScorer } from './run-code.ts';
import { isRefusal } from './until-written.ts';

/** Grades what needs no session, decides outcomes, and records attempts. Idempotent. */
export const createGrading = (dependencies: Dependencies) => ({
  /** Several attempts of a run at once: what is wrong with one touches no other. */
  gradeAndRecord: async ({ records }: RecordAllInput): Promise<RecordAllResult> => {
    const graded = await Promise.all(records.map((one) => orFault(() => grade(dependencies, one))));
    const results = await recordAll(dependencies, graded);
    const recorded = graded.flatMap((one, at) =>
      'fault' in one || results[at] === undefined || 'fault' in results[at] ? [] : [one],
    );
    await Promise.all(recorded.map(({ input, answered }) => analyze(dependencies, input, answered)));
    return { results };
  },

  async recordTry({ cell, tryNumber, reason, scope, pattern }: RecordTryInput): Promise<RecordTryResult> {
    const { code, phase, message } = reason;
    const spent = await recordDiscardedTry(dependencies.db, {
      key: cell,
      tryNumber,
      stage: phase,
      scope,
      pattern,
      error: dependencies.redact(`${code}: ${message}`),
    });
    return { spent };
  },

  async noteWarning({ cell, ...warning }: WarningInput): Promise<void> {
    const message = dependencies.redact(warning.message);
    await noteWarning(dependencies.db, { key: cell, warning: { ...warning, message } });
  },
});

type Fault = { readonly fault: string };

type Graded = {
  readonly record: AttemptRecord;
  readonly failFast: boolean;
  readonly input: RecordInput;
  readonly answered: Origin;
};

/** All in one statement; when the store refuses it, one by one, to find those that it refuses. */
async function recordAll(
  { db }: Dependencies,
  graded: readonly (Graded | Fault)[],
): Promise<readonly (RecordResult | Fault)[]> {
  const records = graded.flatMap((one) => ('fault' in one ? [] : [one.record]));
  const answers = new Map(await recordOrSplit(db, records));
  return graded.map((one) => {
    if ('fault' in one) return one;
    const answer = answers.get(one.record) ?? NO_ANSWER;
    return 'fault' in answer ? answer : toResult(answer, one);
  });
}

async function recordOrSplit(
  db: Dependencies['db'],
  records: readonly AttemptRecord[],
): Promise<readonly (readonly [AttemptRecord, RecordAnswer | Fault])[]> {
  const runId = records[0]?.key.runId;
  if (runId === undefined) return [];
  const all = await orFault(() => recordAttempts(db, runId, records));
  if (!('fault' in all)) return records.map((record, at) => [record, all[at] ?? NO_ANSWER] as const);
  if (records.length === 1) return records.map((record) => [record, all] as const);
  const each = [];
  for (const record of records) each.push(...(await recordOrSplit(db, [record])));
  return each;
}

const NO_ANSWER: Fault = { fault: 'the store gave no answer for this attempt' };

/**
 * What the store refuses and what Assay gets wrong is final for its attempt, or its pack would try for ever;
 * a store that is away is tried again by the server.
 */
async function orFault<T>(work: () => Promise<T>): Promise<T | Fault> {
  try {
    return await work();
  } catch (error) {
    const own = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
    if (isRefusal(error) || own) return { fault: error instanceof Error ? error.message : String(error) };
    throw error;
  }
}

async function grade(dependencies: Dependencies, given: RecordInput): Promise<Graded> {
  const place = await dependencies.runs.find(given.cell);
  const answered = await findAnswered(dependencies, given);
  const input = given.stored === true ? toStored(given, answered) : given;
  const { text, message } = await loadAnswer(dependencies, input.answerDigest);
  const scores =
    input.end.kind === 'ended' ? await collectScores(dependencies, { input, place, text, answered }) : [];
  return {
    input,
    answered,
    record: {
      key: input.cell,
      tryNumber: input.tryNumber,
      outcome: toOutcome(input, scores),
      scores,
      answerDigest: input.answerDigest,
      answerPreview: message === null ? null : text.slice(0, 200),
    },
    failFast: place.plan.spec.execution.failFast,
  };
}

/** As if its agent had just ended as it did then. */
const toStored = (input: RecordInput, { tryNumber, answerDigest, limit }: Origin): RecordInput => ({
  ...input,
  tryNumber,
  answerDigest,
  end: { kind: 'ended', limit },
});

function toResult({ outcome }: RecordAnswer, { failFast }: Graded): RecordResult {
  const failed = outcome.kind === 'error' || outcome.kind === 'infra';
  return {
    outcome: outcome.kind,
    pass: outcome.kind === 'scored' && outcome.pass,
    frozen: failed && failFast ? 'aborted' : null,
  };
}

const toOutcome = ({ end }: RecordInput, scores: readonly Score[]): Outcome =>
  end.kind === 'failed'
    ? { kind: end.outcome, reason: end.reason, limit: null }
    : gradeAttempt({ scores, limit: end.limit });

/** The agent's final text; an agent that said nothing answered with the empty text. */
export async function loadAnswer(
  { blobs }: Dependencies,
  digest: string | null,
): Promise<{ readonly text: string; readonly message: AssistantMessage | null }> {
  if (digest === null) return { text: '', message: null };
  const message = (await blobs.loadJson(digest)) as AssistantMessage;
  return { text: message.text, message };
}

async function collectScores(
  dependencies: Dependencies,
  facts: {
    readonly input: RecordInput;
    readonly place: CellPlace;
    readonly text: string;
    readonly answered: Origin;
  },
): Promise<readonly Score[]> {
  const { input, place, text, answered } = facts;
  const given = await loadGiven(dependencies, [input.sessionScoresDigest, input.processScoresDigest ?? null]);
  const opinions = await loadOpinions(dependencies, input);
  const target = await dependencies.runs.target(input.cell);
  const measured = await measure(dependencies, { answered, place });
  const scores: Score[] = [];
  for (const spec of place.scorers) {
    const at = placeOfScorer(place.plan.spec.module, spec.kind);
    const own = pickOpinions(spec, place.plan.spec.judges, opinions);
    const verdict =
      at === 'local' || (at === 'judge' && own.length > 0)
        ? await judge(dependencies, { spec, place, target, text, session: null, measured, opinions: own })
        : (given.find((one) => one.scorer === spec.name)?.verdict ?? toUngraded(input));
    scores.push(toScore(spec, verdict));
  }
  return scores;
}

/** What the attempt took, where a scorer looks at it. */
async function measure(
  { modules, db }: Dependencies,
  { answered, place }: { readonly answered: Origin; readonly place: CellPlace },
): Promise<Measured | undefined> {
  const isAsked = place.scorers.some(
    ({ kind }) => findRunScorer(modules, place.plan, kind).measures === true,
  );
  return isAsked ? await loadMeasured(db, answered) : undefined;
}

/** Scores that were given before, in a session or in a process of the run file. */
async function loadGiven(
  { blobs }: Dependencies,
  digests: readonly (string | null)[],
): Promise<readonly Score[]> {
  const kept = digests.filter((digest) => digest !== null);
  return (await Promise.all(kept.map((digest) => blobs.loadJson(digest) as Promise<Score[]>))).flat();
}

const LOCAL_TIMEOUT_MS = 5_000;

function toUngraded({ gradingFailure }: RecordInput): ScorerVerdict {
  const why =
    gradingFailure == null ? 'there was no verdict' : `${gradingFailure.code}: ${gradingFailure.message}`;
  return {
    kind: 'unscored',
    code: 'scorer_failed',
    explanation: `grading failed before there was a verdict (${why}); \`assay retry\` runs the attempt again`,
  };
}

export type JudgeFacts = {
  readonly spec: ScorerSpec;
  readonly place: CellPlace;
  readonly target: Target | null;
  readonly text: string;
  readonly session: EnvironmentSession | null;
  readonly about?: ScoredAttempt;
  readonly measured?: Measured | undefined;
  readonly opinions?: readonly JudgeOpinion[];
  readonly signal?: AbortSignal;
};

/** One scorer on one answer. Never throws: what goes wrong is an unscored verdict that names the scorer. */
export async function judge(dependencies: Dependencies, facts: JudgeFacts): Promise<ScorerVerdict> {
  const { spec, place, target, text, session, about, measured, opinions, signal } = facts;
  const { modules, blobs } = dependencies;
  const scorer = findRunScorer(modules, place.plan, spec.kind);
  const projectDir = place.plan.spec.module?.projectDir ?? null;
  const input = {
    options: spec.options,
    threshold: spec.threshold,
    testCase: place.testCase,
    target,
    answer: text,
    session,
    ...(about === undefined ? {} : { about, runCode: createCodeRunner(modules, projectDir) }),
    ...(measured === undefined ? {} : { measured }),
    ...(opinions === undefined ? {} : { opinions }),
    loadBlob: (digest: string) => blobs.load(digest),
    signal: signal ?? new AbortController().signal,
  };
  const verdict = await runScorer(scorer, input, {
    name: spec.name,
    timeoutMs: scorer.place === 'local' || scorer.place === 'judge' ? LOCAL_TIMEOUT_MS : null,
  });
  return spec.not === true ? turned(verdict) : verdict;
}

export const toScore = (spec: ScorerSpec, verdict: ScorerVerdict): Score => ({
  scorer: spec.name,
  kind: spec.not === true ? `not-${spec.kind}` : spec.kind,
  weight: spec.weight,
  required: spec.required,
  verdict,
});
