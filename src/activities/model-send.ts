import { toAgentEnd } from '../domain/call-end.ts';
import type { ClassifiedFailure } from '../domain/failure.ts';
import { redactJson, redactPatterns } from '../domain/redact.ts';
import { planRetry } from '../domain/retry-delay.ts';
import type { CallModelInput, CallModelResult } from '../domain/step.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import { toCostUsd, totalTokens, type Price, type Usage } from '../domain/usage.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { pauseEngine } from '../store/engines.ts';
import { completeCall, failCall, type CallSpend } from '../store/model-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { comeBack } from './failure.ts';
import { toCallKey, type KeptAnswer } from './kept-answer.ts';
import type { PreparedCall } from './model-request.ts';
import { untilWritten } from './until-written.ts';

export type Sending = {
  readonly input: CallModelInput;
  readonly prepared: PreparedCall;
  readonly admission: { readonly requestNumber: number; readonly failuresSoFar: number };
  readonly signal: AbortSignal;
};

export type Sent =
  | { readonly kind: 'kept'; readonly answer: KeptAnswer }
  | { readonly kind: 'ended'; readonly result: CallModelResult };

/** Sends the one request that was granted and settles its row, whatever comes back. */
export async function sendRequest(dependencies: Dependencies, sending: Sending): Promise<Sent> {
  const { prepared, signal } = sending;
  const { place } = prepared;
  const started = dependencies.now();
  const provider = dependencies.providerFor(place.provider, place.plan.spec.module);
  try {
    const answer = await provider.call(toModelRequest(sending), signal);
    return { kind: 'kept', answer: await keep(dependencies, sending, { answer, started }) };
  } catch (error) {
    // A call that was cut off keeps its row `started`: the run settles it at its worst case.
    if (signal.aborted) throw error;
    const failure = error instanceof ProviderError ? error : toOwnFault(error);
    return await settleFailure(dependencies, sending, {
      error: failure,
      latencyMs: dependencies.now() - started,
    });
  }
}

/** A fault of Assay itself must not send and pay the request again: it ends the call, and says so. */
function toOwnFault(error: unknown): ProviderError {
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

function toModelRequest(sending: Sending) {
  const { prepared, input, admission } = sending;
  const { place, request } = prepared;
  const totalMs = Math.min(place.limits.modelCallTimeMs ?? DEFAULT_CALL_MS, timeLeftMs(sending) ?? Infinity);
  return {
    ...request,
    timeouts: { ...place.provider.timeouts, totalMs },
    cell: {
      runId: input.cell.runId,
      requestName: place.request.spec.name,
      modelId: input.cell.modelId,
      caseId: input.cell.caseId,
      seed: place.plan.spec.execution.seed,
      attempt: input.cell.attempt,
      step: input.step,
      purpose: 'agent',
      requestNumber: admission.requestNumber,
    },
  };
}

const DEFAULT_CALL_MS = 600_000;

/** What the attempt may still take; a straight line has all of it. */
const timeLeftMs = ({ input, prepared }: Sending): number | null =>
  input.timeLeftMs ?? prepared.place.limits.attemptTimeMs;

/** Stores an answer before anybody is told of it; an answer that was paid is held until it is written. */
async function keep(
  dependencies: Dependencies,
  { input, prepared, admission, signal }: Sending,
  { answer, started }: { readonly answer: ModelAnswer; readonly started: number },
): Promise<KeptAnswer> {
  const latencyMs = dependencies.now() - started;
  const message = redactMessage(dependencies, answer.message);
  const costUsd = answer.reportedCostUsd ?? toCostUsd(answer.usage, prepared.place.model.price);
  const completion = {
    key: toCallKey(input),
    requestNumber: admission.requestNumber,
    message,
    sequence: input.upToSequence + 1,
    finishReason: answer.finishReason,
    usage: answer.usage,
    costUsd,
    latencyMs,
    notes: answer.notes.map(dependencies.redact),
  };
  const { answer: kept } = await untilWritten(() => completeCall(dependencies.db, completion), signal);
  dependencies.blobs.remember(kept.digest, kept.bytes);
  return {
    message,
    digest: kept.digest,
    finishReason: answer.finishReason,
    usage: answer.usage,
    costUsd,
    latencyMs,
  };
}

const redactMessage = ({ redact }: Dependencies, message: AssistantMessage): AssistantMessage =>
  redactJson(message, redact) as AssistantMessage;

/** How some providers say that all their users together are too many. */
const OVERLOADED = 529;

/** A failed request: tried again after a booked delay, or final. */
async function settleFailure(
  dependencies: Dependencies,
  sending: Sending,
  { error, latencyMs }: { readonly error: ProviderError; readonly latencyMs: number },
): Promise<Sent> {
  const { input, prepared, admission, signal } = sending;
  const { place, engineId } = prepared;
  const classified = redactFailure(dependencies, error.classified);
  if (classified.class === 'throttled' || classified.status === OVERLOADED)
    dependencies.onThrottled(engineId);
  const now = dependencies.now();
  const leftMs = timeLeftMs(sending);
  const timeIsUp = classified.class === 'time_out' && leftMs !== null && latencyMs >= leftMs;
  const plan = timeIsUp
    ? ({ kind: 'give_up' } as const)
    : planRetry({
        failure: classified,
        failuresSoFar: admission.failuresSoFar,
        retry: place.provider.retry,
        random: dependencies.random(),
        now,
      });
  const retryInMs =
    plan.kind === 'retry' ? plan.delayMs : plan.kind === 'pause_provider' ? plan.untilMs - now : null;
  const settle = {
    key: toCallKey(input),
    requestNumber: admission.requestNumber,
    class: classified.class,
    message: classified.message,
    retryInMs,
    spend: toSpend(error, place.model.price),
    latencyMs,
  };
  await untilWritten(() => failCall(dependencies.db, settle), signal);
  if (plan.kind === 'pause_provider') {
    await pauseEngine(dependencies.db, { engineId, pauseMs: plan.untilMs - now, reason: classified.message });
  }
  if (retryInMs !== null) throw comeBack(retryInMs, classified.message);
  return {
    kind: 'ended',
    result: toEnded({
      input,
      classified,
      latencyMs,
      timeLimitMs: timeIsUp ? leftMs : null,
      usage: error.usage,
      admission,
    }),
  };
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

function toEnded(facts: {
  readonly input: CallModelInput;
  readonly classified: ClassifiedFailure;
  readonly latencyMs: number;
  /** The attempt's time was up: what had been left of it. */
  readonly timeLimitMs: number | null;
  readonly usage: Usage | null;
  readonly admission: Sending['admission'];
}): CallModelResult {
  const { input, classified, latencyMs, timeLimitMs, usage, admission } = facts;
  const tokens = usage === null ? null : totalTokens(usage);
  const spent = { tokens, costUsd: null, measuredMs: Math.round(latencyMs) };
  if (timeLimitMs !== null) {
    const limit = { kind: 'time', limit: timeLimitMs, measured: Math.round(latencyMs) } as const;
    return { kind: 'ended', end: { kind: 'ended', limit }, spent };
  }
  const spentBefore = input.step > 1 || (tokens ?? 0) > 0;
  return {
    kind: 'ended',
    end: toAgentEnd({ classified, spentBefore, requests: admission.requestNumber }),
    spent,
  };
}
