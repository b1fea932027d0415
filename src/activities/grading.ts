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
import { findScorer } from '../scorers/lookup.ts';
import { recordAttempt } from '../store/attempts.ts';
import { recordDiscardedTry } from '../store/tries.ts';
import type { Dependencies } from './dependencies.ts';
import type { CellPlace } from './run-reader.ts';
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
  const digest = input.sessionScoresDigest;
  const given = digest === null ? [] : ((await dependencies.blobs.loadJson(digest)) as readonly Score[]);
  const target = await dependencies.runs.target(input.cell);
  const scores: Score[] = [];
  for (const spec of place.scorers) {
    const verdict =
      findScorer(spec.kind).place === 'session'
        ? (given.find((one) => one.scorer === spec.name)?.verdict ?? NOT_GRADED)
        : await judge(dependencies, { spec, place, target, text, session: null });
    scores.push(toScore(spec, verdict));
  }
  return scores;
}

const LOCAL_TIMEOUT_MS = 5_000;

const NOT_GRADED: ScorerVerdict = {
  kind: 'unscored',
  code: 'scorer_failed',
  explanation: 'grading in the session failed; `assay retry` runs the attempt again',
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
    readonly signal?: AbortSignal;
  },
): Promise<ScorerVerdict> {
  const { spec, place, target, text, session, signal } = facts;
  const scorer = findScorer(spec.kind);
  const input = {
    options: spec.options,
    threshold: spec.threshold,
    testCase: place.testCase,
    target,
    answer: text,
    session,
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
