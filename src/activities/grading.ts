import { gradeAttempt } from '../domain/grade.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Score, ScorerVerdict } from '../domain/score.ts';
import type {
  RecordAllInput,
  RecordAllResult,
  RecordInput,
  RecordResult,
  RecordTryInput,
} from '../domain/step.ts';
import type { ScorerSpec, Target } from '../domain/suite.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { runScorer } from '../scorers/guard.ts';
import type { ScoredAttempt } from '../scorers/scorer.ts';
import { recordAttempt } from '../store/attempts.ts';
import { recordDiscardedTry } from '../store/tries.ts';
import type { Dependencies } from './dependencies.ts';
import type { CellPlace } from './run-reader.ts';
import { findRunScorer, placeOfScorer } from './run-code.ts';
import { isRefusal } from './until-written.ts';

/** Grades what needs no session, decides outcomes, and records attempts. Idempotent. */
export const createGrading = (dependencies: Dependencies) => ({
  /** Several attempts at once: what is wrong with one touches no other. */
  gradeAndRecord: async ({ records }: RecordAllInput): Promise<RecordAllResult> => ({
    results: await Promise.all(records.map((one) => recordOrTell(dependencies, one))),
  }),

  async recordTry({ cell, tryNumber, end, pattern }: RecordTryInput): Promise<void> {
    if (end.kind !== 'failed') return;
    const { code, phase, message } = end.reason;
    await recordDiscardedTry(dependencies.db, {
      key: cell,
      tryNumber,
      stage: phase,
      scope: 'attempt',
      pattern,
      error: `${code}: ${message}`,
      planDigest: null,
    });
  },
});

/**
 * What the store refuses and what Assay gets wrong is final for its attempt, or its pack would try for ever;
 * a store that is away is tried again by the server.
 */
async function recordOrTell(
  dependencies: Dependencies,
  input: RecordInput,
): Promise<RecordResult | { readonly fault: string }> {
  try {
    return await record(dependencies, input);
  } catch (error) {
    const own = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
    if (isRefusal(error) || own) return { fault: error instanceof Error ? error.message : String(error) };
    throw error;
  }
}

async function record(dependencies: Dependencies, input: RecordInput): Promise<RecordResult> {
  const place = await dependencies.runs.find(input.cell);
  const { text, message } = await loadAnswer(dependencies, input.answerDigest);
  const scores = input.end.kind === 'ended' ? await collectScores(dependencies, { input, place, text }) : [];
  const outcome = toOutcome(input, scores);
  const { outcome: stored } = await recordAttempt(dependencies.db, {
    key: input.cell,
    tryNumber: input.tryNumber,
    outcome,
    scores,
    answerDigest: input.answerDigest,
    answerPreview: message === null ? null : text.slice(0, 200),
  });
  const failed = stored.kind === 'error' || stored.kind === 'infra';
  return {
    outcome: stored.kind,
    pass: stored.kind === 'scored' && stored.pass,
    frozen: failed && place.plan.spec.execution.failFast ? 'aborted' : null,
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
  facts: { readonly input: RecordInput; readonly place: CellPlace; readonly text: string },
): Promise<readonly Score[]> {
  const { input, place, text } = facts;
  const given = await loadGiven(dependencies, [input.sessionScoresDigest, input.processScoresDigest ?? null]);
  const target = await dependencies.runs.target(input.cell);
  const scores: Score[] = [];
  for (const spec of place.scorers) {
    const verdict =
      placeOfScorer(place.plan.spec.module, spec.kind) === 'local'
        ? await judge(dependencies, { spec, place, target, text, session: null })
        : (given.find((one) => one.scorer === spec.name)?.verdict ?? NOT_GRADED);
    scores.push(toScore(spec, verdict));
  }
  return scores;
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

const NOT_GRADED: ScorerVerdict = {
  kind: 'unscored',
  code: 'scorer_failed',
  explanation: 'grading failed before there was a verdict; `assay retry` runs the attempt again',
};

/** One scorer on one answer. Never throws: what goes wrong is an unscored verdict that names the scorer. */
export function judge(
  dependencies: Dependencies,
  facts: {
    readonly spec: ScorerSpec;
    readonly place: CellPlace;
    readonly target: Target | null;
    readonly text: string;
    readonly session: EnvironmentSession | null;
    readonly about?: ScoredAttempt;
    readonly signal?: AbortSignal;
  },
): Promise<ScorerVerdict> {
  const { spec, place, target, text, session, about, signal } = facts;
  const scorer = findRunScorer(dependencies.modules, place.plan, spec.kind);
  const input = {
    options: spec.options,
    threshold: spec.threshold,
    testCase: place.testCase,
    target,
    answer: text,
    session,
    ...(about === undefined ? {} : { about }),
    loadBlob: (digest: string) => dependencies.blobs.load(digest),
    signal: signal ?? new AbortController().signal,
  };
  return runScorer(scorer, input, {
    name: spec.name,
    timeoutMs: scorer.place === 'local' ? LOCAL_TIMEOUT_MS : null,
  });
}

export const toScore = (spec: ScorerSpec, verdict: ScorerVerdict): Score => ({
  scorer: spec.name,
  kind: spec.kind,
  weight: spec.weight,
  required: spec.required,
  verdict,
});
