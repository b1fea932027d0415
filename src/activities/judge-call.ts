import { outputCap } from '../domain/estimate.ts';
import type { CallKey } from '../domain/ids.ts';
import { toJudgeModelId } from '../domain/judge.ts';
import { planRetry } from '../domain/retry-delay.ts';
import type { ModelSpec, ProviderSpec } from '../domain/run.ts';
import type { AssistantMessage, FinishReason, Message } from '../domain/transcript.ts';
import { toWorstCase } from '../domain/worst-case.ts';
import { toEngineId } from '../providers/lookup.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { beginCall, type CallAdmission } from '../store/model-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { giveUpProbe, toEngineReason, watchProbe } from './engine-watch.ts';
import { comeBack } from './failure.ts';
import { toRequestCell, toTimeouts } from './model-request.ts';
import type { CellPlace } from './run-reader.ts';
import { keepAnswer, settleFailed, toOwnFault, type SentRequest } from './settle-call.ts';
import { spreadWait } from './spread-wait.ts';
import { waitForKeys } from './wait-for-key.ts';
import { LONGEST_WAIT_HERE_MS, waitHere } from './wait-here.ts';

/** One question to one judge. */
export type JudgeCall = {
  readonly key: CallKey;
  readonly place: CellPlace;
  readonly judge: ModelSpec;
  readonly provider: ProviderSpec;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
};

export type JudgeReply =
  | { readonly kind: 'replied'; readonly text: string; readonly finishReason: FinishReason }
  /** No reply, and there will be none: why, and what to do. */
  | { readonly kind: 'silent'; readonly code: 'judge_down' | 'judge_failed'; readonly message: string }
  /** The run takes no more calls. */
  | { readonly kind: 'stopped' };

/**
 * Asks a judge as any model is asked: write-ahead, under the run's budgets, the engine's breaker for judges, its rates
 * and its retries. A question that was answered before is answered from its row.
 * @throws ComeBack when it has to wait.
 */
export async function callJudge(dependencies: Dependencies, call: JudgeCall): Promise<JudgeReply> {
  for (;;) {
    const called = await callOnce(dependencies, call);
    if (called.kind !== 'again') return called;
    await waitHere(called.afterMs);
  }
}

type Again = { readonly kind: 'again'; readonly afterMs: number };

async function callOnce(dependencies: Dependencies, call: JudgeCall): Promise<JudgeReply | Again> {
  const { key, place, judge, provider, messages } = call;
  const engineId = toEngineId(provider);
  waitForKeys(dependencies, [provider.apiKeyEnv]);
  const inputBytes = Buffer.byteLength(JSON.stringify([messages, []]));
  const worst = toWorstCase({ inputBytes, maxOutputTokens: outputCap(judge), price: judge.price });
  const admission = await beginCall(dependencies.db, {
    key,
    modelId: toJudgeModelId(judge.id),
    engineId,
    worstTokens: worst.tokens,
    worstUsd: worst.usd,
    maxRetries: provider.retry.max,
  });
  switch (admission.kind) {
    case 'granted':
      return await send(dependencies, call, admission);
    case 'recorded': {
      const { text } = (await dependencies.blobs.loadJson(admission.answerDigest)) as AssistantMessage;
      return { kind: 'replied', text, finishReason: admission.finishReason };
    }
    case 'failed':
      return toFailed(admission.class, admission.message);
    case 'engine_down': {
      const { reason, message } = admission;
      const down = toEngineReason(place.plan, { engineId, reason, message });
      return { kind: 'silent', code: 'judge_down', message: down.message };
    }
    case 'stopped':
    case 'over_budget':
      return { kind: 'stopped' };
    case 'wait':
      if (admission.reason === 'probe') dependencies.onEngine(engineId, 'unknown');
      throw comeBack(spreadWait(admission, dependencies.random()), `waiting: ${admission.reason}`);
  }
}

const toFailed = (failureClass: string, message: string): JudgeReply => ({
  kind: 'silent',
  code: 'judge_failed',
  message: `its call failed (${failureClass}): ${message}; \`assay resume\` asks again`,
});

type Granted = Extract<CallAdmission, { kind: 'granted' }>;

async function send(
  dependencies: Dependencies,
  call: JudgeCall,
  admission: Granted,
): Promise<JudgeReply | Again> {
  const { place, judge, provider, signal } = call;
  const sent = toSent(call, admission);
  const asked = { ...place, model: judge, provider };
  const started = dependencies.now();
  const watch = watchProbe(dependencies, sent);
  try {
    const answer = await dependencies.providerFor(provider, place.plan.spec.module).call(
      {
        model: judge.model,
        params: judge.params,
        messages: call.messages,
        tools: [],
        maxOutputTokens: outputCap(judge),
        stream: provider.stream,
        timeouts: toTimeouts(asked),
        cell: toRequestCell(asked, call.key, admission.requestNumber),
        onAnswering: watch.onAnswering,
      },
      signal,
    );
    const latencyMs = dependencies.now() - started;
    const kept = await keepAnswer(dependencies, sent, { answer, latencyMs, sequence: null });
    return { kind: 'replied', text: kept.message.text, finishReason: kept.finishReason };
  } catch (error) {
    // A call that was cut off keeps its row `started`, as an agent's does.
    if (signal.aborted) {
      await giveUpProbe(dependencies, sent).catch(() => undefined);
      throw error;
    }
    const failure = error instanceof ProviderError ? error : toOwnFault(error);
    const failed = { error: failure, latencyMs: dependencies.now() - started };
    return await settle(dependencies, { call, sent, admission }, failed);
  } finally {
    watch.stop();
  }
}

const toSent = ({ key, judge, provider, signal }: JudgeCall, admission: Granted): SentRequest => ({
  key,
  requestNumber: admission.requestNumber,
  engineId: toEngineId(provider),
  probe: admission.probe,
  price: judge.price,
  signal,
});

type Failed = { readonly call: JudgeCall; readonly sent: SentRequest; readonly admission: Granted };

/** A failed request: tried again after a booked delay, or final. */
async function settle(
  dependencies: Dependencies,
  { call, sent, admission }: Failed,
  failed: { readonly error: ProviderError; readonly latencyMs: number },
): Promise<JudgeReply | Again> {
  const { classified, retryInMs } = await settleFailed(dependencies, sent, {
    ...failed,
    plan: (failure) =>
      planRetry({
        failure,
        failuresSoFar: admission.failuresSoFar,
        retry: call.provider.retry,
        random: dependencies.random(),
        now: dependencies.now(),
      }),
    tells: () => true,
  });
  if (retryInMs === null) return toFailed(classified.class, classified.message);
  if (admission.probe && retryInMs <= LONGEST_WAIT_HERE_MS) return { kind: 'again', afterMs: retryInMs };
  throw comeBack(retryInMs, classified.message);
}
