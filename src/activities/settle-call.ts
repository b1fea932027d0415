import type { ClassifiedFailure } from '../domain/failure.ts';
import type { CallKey } from '../domain/ids.ts';
import { redactJson, redactPatterns } from '../domain/redact.ts';
import type { RetryPlan } from '../domain/retry-delay.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import { toCostUsd, type Price } from '../domain/usage.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { pauseEngine } from '../store/engines.ts';
import { completeCall, failCall, type CallSpend } from '../store/model-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { tellFailure } from './engine-watch.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { untilWritten } from './until-written.ts';

/** One request that was granted and sent. */
export type SentRequest = {
  readonly key: CallKey;
  readonly requestNumber: number;
  readonly engineId: string;
  /** It finds out whether its engine is alive. */
  readonly probe: boolean;
  readonly price: Price | null;
  readonly signal: AbortSignal;
};

type Answered = {
  readonly answer: ModelAnswer;
  readonly latencyMs: number;
  /** Place of the answer in the transcript; null = it is part of none. */
  readonly sequence: number | null;
};

/** Stores an answer before anybody is told of it; an answer that was paid is held until it is written. */
export async function keepAnswer(
  dependencies: Dependencies,
  { key, requestNumber, engineId, price, signal }: SentRequest,
  { answer, latencyMs, sequence }: Answered,
): Promise<KeptAnswer> {
  const { finishReason, usage } = answer;
  const message = redactJson(answer.message, dependencies.redact) as AssistantMessage;
  const costUsd = answer.reportedCostUsd ?? toCostUsd(usage, price);
  const notes = answer.notes.map(dependencies.redact);
  const kept = { key, requestNumber, message, sequence, finishReason, usage, costUsd, latencyMs, notes };
  const written = await untilWritten(() => completeCall(dependencies.db, kept), signal);
  const { settled, answer: blob } = written;
  if (written.news) dependencies.onEngine(engineId, 'alive');
  dependencies.blobs.remember(blob.digest, blob.bytes);
  // Only an answer that asks for tools is read again, by the step after it.
  if (settled === 'settled' && message.toolCalls.length > 0 && sequence !== null) {
    const step = { sequence, message, jsonBytes: blob.bytes.byteLength };
    dependencies.transcripts.add({ key, tryNumber: key.tryNumber }, step);
  }
  return { message, digest: blob.digest, finishReason, usage, costUsd, latencyMs };
}

/** How some providers say that all their users together are too many. */
const OVERLOADED = 529;

type Failed = {
  readonly error: ProviderError;
  readonly latencyMs: number;
  readonly plan: (failure: ClassifiedFailure) => RetryPlan;
  /** Whether the end of this request says something about its engine: not where its own attempt cut it off. */
  readonly tells: (failure: ClassifiedFailure) => boolean;
};

/** Settles the row of a request that brought no answer, and pauses its engine where the provider asks for that. */
export async function settleFailed(
  dependencies: Dependencies,
  sent: SentRequest,
  { error, latencyMs, plan, tells }: Failed,
): Promise<{ readonly classified: ClassifiedFailure; readonly retryInMs: number | null }> {
  const { key, requestNumber, engineId, price, signal } = sent;
  const classified = redactFailure(dependencies, error.classified);
  if (classified.class === 'throttled' || classified.status === OVERLOADED)
    dependencies.onThrottled(engineId);
  const planned = plan(classified);
  const retryInMs = toDelay(planned, dependencies.now());
  const failure = {
    key,
    requestNumber,
    class: classified.class,
    message: classified.message,
    retryInMs,
    spend: toSpend(error, price),
    latencyMs,
  };
  await untilWritten(() => failCall(dependencies.db, failure), signal);
  const failed = { classified, usage: error.usage, isFinal: retryInMs === null, cutOff: !tells(classified) };
  await untilWritten(() => tellFailure(dependencies, sent, failed), signal);
  if (planned.kind === 'pause_provider' && retryInMs !== null)
    await pauseEngine(dependencies.db, { engineId, pauseMs: retryInMs, reason: classified.message });
  return { classified, retryInMs };
}

function toDelay(plan: RetryPlan, now: number): number | null {
  switch (plan.kind) {
    case 'retry':
      return plan.delayMs;
    case 'pause_provider':
      return plan.untilMs - now;
    case 'give_up':
      return null;
  }
}

/** What a failed request has cost: the worst case where the model may have worked on it. */
function toSpend({ usage, classified }: ProviderError, price: Price | null): CallSpend {
  if (usage !== null) return { kind: 'known', usage, costUsd: toCostUsd(usage, price) };
  return { kind: classified.served ? 'unknown' : 'none' };
}

const redactFailure = ({ redact }: Dependencies, failure: ClassifiedFailure): ClassifiedFailure => ({
  ...failure,
  message: redactPatterns(redact(failure.message)),
});

/** A fault of Assay itself must not send and pay the request again: it ends the call, and says so. */
export function toOwnFault(error: unknown): ProviderError {
  const message = `Assay could not handle this call: ${error instanceof Error ? error.message : String(error)}`;
  const classified = {
    class: 'unknown',
    retryable: false,
    status: null,
    retryAfterMs: null,
    served: true,
    message,
  } as const;
  return new ProviderError(classified, { cause: error });
}
