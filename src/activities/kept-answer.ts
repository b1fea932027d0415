import type { CallKey } from '../domain/ids.ts';
import type { CallModelInput } from '../domain/step.ts';
import type { AssistantMessage, FinishReason } from '../domain/transcript.ts';
import type { Usage } from '../domain/usage.ts';

/** What is kept of an answer, wherever it comes from: the provider or the store. */
export type KeptAnswer = {
  readonly message: AssistantMessage;
  readonly digest: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly latencyMs: number;
};

export const toCallKey = ({ cell, tryNumber, step }: CallModelInput): CallKey => ({
  runId: cell.runId,
  task: cell.task,
  attempt: cell.attempt,
  generation: cell.generation,
  tryNumber,
  purpose: 'agent',
  step,
});
