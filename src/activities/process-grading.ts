import { redactJson } from '../domain/redact.ts';
import type { Score } from '../domain/score.ts';
import type { GradeInProcessInput, ProcessScores } from '../domain/grading-step.ts';
import { loadTranscript } from '../store/steps.ts';
import { findAnswered } from './answered.ts';
import type { Dependencies } from './dependencies.ts';
import { judge, loadAnswer, toScore } from './grading.ts';
import { withHeartbeat } from './heartbeat.ts';
import { placeOfScorer } from './run-code.ts';

const WHOLE_TRANSCRIPT = 2 ** 31 - 1;

/**
 * Activity `gradeInProcess`: the scorers of the run file on one answer, one after another, each in a process that
 * can be ended. Idempotent: scoring has no effect.
 */
export const createProcessGrading = (dependencies: Dependencies) => ({
  gradeInProcess: (input: GradeInProcessInput): Promise<ProcessScores> =>
    withHeartbeat((signal) => grade(dependencies, input, signal)),
});

async function grade(
  dependencies: Dependencies,
  input: GradeInProcessInput,
  signal: AbortSignal,
): Promise<ProcessScores> {
  const { cell } = input;
  const { key, tryNumber, answerDigest } = await findAnswered(dependencies, input);
  const place = await dependencies.runs.find(cell);
  const { module, context } = place.plan.spec;
  const { text } = await loadAnswer(dependencies, answerDigest);
  const target = await dependencies.runs.target(cell);
  const steps = { key, tryNumber, upToSequence: WHOLE_TRANSCRIPT };
  const transcript = await loadTranscript(dependencies.db, steps);
  const scores: Score[] = [];
  for (const spec of place.scorers) {
    if (placeOfScorer(module, spec.kind) !== 'process') continue;
    const about = { scorerName: spec.name, modelId: cell.modelId, context, transcript };
    const facts = { spec, place, target, text, session: null, about, signal };
    scores.push(toScore(spec, await judge(dependencies, facts)));
  }
  signal.throwIfAborted();
  return { scoresDigest: await dependencies.blobs.saveJson(redactJson(scores, dependencies.redact)) };
}
