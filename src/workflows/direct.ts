import { callModel, nameTry } from './activities.ts';
import { toCallPriority } from '../domain/call-priority.ts';
import { toOutputLimit } from '../domain/output-limit.ts';
import type { TryEnd, TryPlace } from './try.ts';

/** The straight line: one model call. Grading and recording follow in `runAttempt`. */
export async function runDirect({ input, cell, tryNumber }: TryPlace): Promise<TryEnd> {
  const answer = await callModel(
    { cell, tryNumber, step: 1, upToSequence: 0, timeLeftMs: null },
    {
      queue: input.run.modelQueues[input.modelId] ?? '',
      summary: nameTry({ cell, tryNumber }),
      priorityKey: toCallPriority({ generation: cell.generation, planned: input.request.attempts }),
    },
  );
  switch (answer.kind) {
    case 'answered':
      return {
        kind: 'over',
        end: { kind: 'ended', limit: toOutputLimit(answer) },
        answerDigest: answer.answerDigest,
        sessionScoresDigest: null,
      };
    case 'ended':
      return { kind: 'over', end: answer.end, answerDigest: null, sessionScoresDigest: null };
    case 'stopped':
      return { ...answer, spent: false };
    case 'held':
      return { kind: 'held', untilMs: Date.now() + answer.waitMs };
  }
}
