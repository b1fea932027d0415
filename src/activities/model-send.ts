import { toAgentEnd } from '../domain/call-end.ts';
import type { ClassifiedFailure } from '../domain/failure.ts';
import { planRetry } from '../domain/retry-delay.ts';
import type { CallModelInput, CallModelResult } from '../domain/step.ts';
import { totalTokens, type Usage } from '../domain/usage.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { repairCalls } from '../tools/repair-arguments.ts';
import type { Dependencies } from './dependencies.ts';
import { giveUpProbe, watchProbe } from './engine-watch.ts';
import { comeBack } from './failure.ts';
import { toCallKey, type KeptAnswer } from './kept-answer.ts';
import { toRequestCell, toTimeouts, type PreparedCall } from './model-request.ts';
import { keepAnswer, settleFailed, toOwnFault, type SentRequest } from './settle-call.ts';
import { LONGEST_WAIT_HERE_MS } from './wait-here.ts';

export type Sending = {
  readonly input: CallModelInput;
  readonly prepared: PreparedCall;
  readonly admission: {
    readonly requestNumber: number;
    readonly failuresSoFar: number;
    readonly probe: boolean;
  };
  readonly signal: AbortSignal;
};

export type Sent =
  | { readonly kind: 'kept'; readonly answer: KeptAnswer }
  | { readonly kind: 'ended'; readonly result: CallModelResult }
  /** It finds out about its engine: its retry is waited for in place, where nobody else can start anyway. */
  | { readonly kind: 'again'; readonly afterMs: number };

/** Sends the one request that was granted and settles its row, whatever comes back. */
export async function sendRequest(dependencies: Dependencies, sending: Sending): Promise<Sent> {
  const { prepared, signal } = sending;
  const { place } = prepared;
  const started = dependencies.now();
  const provider = dependencies.providerFor(place.provider, place.plan.spec.module);
  const watch = watchProbe(dependencies, toSent(sending));
  try {
    const request = { ...toModelRequest(sending), onAnswering: watch.onAnswering };
    const answer = await provider.call(request, signal);
    const latencyMs = dependencies.now() - started;
    const message = repairCalls(answer.message, prepared.request.tools);
    const kept = { answer: { ...answer, message }, latencyMs, sequence: sending.input.upToSequence + 1 };
    return { kind: 'kept', answer: await keepAnswer(dependencies, toSent(sending), kept) };
  } catch (error) {
    // A call that was cut off keeps its row `started`: the run settles it at its worst case.
    if (signal.aborted) {
      await giveUpProbe(dependencies, toSent(sending)).catch(() => undefined);
      throw error;
    }
    const failure = error instanceof ProviderError ? error : toOwnFault(error);
    return await settleFailure(dependencies, sending, {
      error: failure,
      latencyMs: dependencies.now() - started,
    });
  } finally {
    watch.stop();
  }
}

const toSent = ({ input, prepared, admission, signal }: Sending): SentRequest => ({
  key: toCallKey(input),
  requestNumber: admission.requestNumber,
  engineId: prepared.engineId,
  probe: admission.probe,
  price: prepared.place.model.price,
  signal,
});

function toModelRequest(sending: Sending) {
  const { prepared, input, admission } = sending;
  const { place, request } = prepared;
  return {
    ...request,
    timeouts: toTimeouts(place, timeLeftMs(sending)),
    cell: toRequestCell(place, toCallKey(input), admission.requestNumber),
  };
}

/** What the attempt may still take; a straight line has all of it. */
const timeLeftMs = ({ input, prepared }: Sending): number | null =>
  input.timeLeftMs ?? prepared.place.limits.attemptTimeMs;

/** A failed request: tried again after a booked delay, or final. */
async function settleFailure(
  dependencies: Dependencies,
  sending: Sending,
  { error, latencyMs }: { readonly error: ProviderError; readonly latencyMs: number },
): Promise<Sent> {
  const { input, prepared, admission } = sending;
  const leftMs = timeLeftMs(sending);
  const isTimeUp = (failure: ClassifiedFailure): boolean =>
    failure.class === 'time_out' && leftMs !== null && latencyMs >= leftMs;
  const { classified, retryInMs } = await settleFailed(dependencies, toSent(sending), {
    error,
    latencyMs,
    plan: (failure) =>
      isTimeUp(failure)
        ? { kind: 'give_up' }
        : planRetry({
            failure,
            failuresSoFar: admission.failuresSoFar,
            retry: prepared.place.provider.retry,
            random: dependencies.random(),
            now: dependencies.now(),
          }),
    tells: (failure) => !isTimeUp(failure),
  });
  if (retryInMs !== null && admission.probe && retryInMs <= LONGEST_WAIT_HERE_MS)
    return { kind: 'again', afterMs: retryInMs };
  if (retryInMs !== null) throw comeBack(retryInMs, classified.message);
  return {
    kind: 'ended',
    result: toEnded({
      input,
      classified,
      latencyMs,
      timeLimitMs: isTimeUp(classified) ? leftMs : null,
      usage: error.usage,
      admission,
    }),
  };
}

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
