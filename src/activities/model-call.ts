import { Context } from '@temporalio/activity';
import { toAgentEnd } from '../domain/call-end.ts';
import { outputCap } from '../domain/estimate.ts';
import type { Reason } from '../domain/outcome.ts';
import type { CallModelInput, CallModelResult } from '../domain/step.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import { totalTokens } from '../domain/usage.ts';
import { toRole, tripEngine } from '../store/engine-health.ts';
import { beginCall, type CallAdmission } from '../store/model-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { blockEngine } from './engine-watch.ts';
import { checkPayload, comeBack } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';
import { toCallKey, type KeptAnswer } from './kept-answer.ts';
import { buildRequest, type PreparedCall } from './model-request.ts';
import { sendRequest, type Sending, type Sent } from './model-send.ts';
import { spreadWait } from './spread-wait.ts';
import { mayGiveWay } from './may-give-way.ts';
import { waitForKeys } from './wait-for-key.ts';
import { waitHere } from './wait-here.ts';

/**
 * Activity `callModel`: one model call, write-ahead. The store's row decides whether it may start, and
 * answers by itself when the call has been made before. Waits are booked in the row and spent outside.
 */
export const createModelCalls = (dependencies: Dependencies) => ({
  callModel: (input: CallModelInput): Promise<CallModelResult> =>
    withHeartbeat(async (signal) =>
      checkPayload('callModel', await callUntilOver(dependencies, input, signal)),
    ),
});

/** A call is asked for again here only while it finds out about its engine. */
async function callUntilOver(
  dependencies: Dependencies,
  input: CallModelInput,
  signal: AbortSignal,
): Promise<CallModelResult> {
  const prepared = await buildRequest(dependencies, input);
  for (;;) {
    const called = await callOnce(dependencies, { input, prepared, signal });
    if (called.kind !== 'again') return called;
    await waitHere(called.afterMs);
  }
}

type Calling = Pick<Sending, 'input' | 'prepared' | 'signal'>;

async function callOnce(
  dependencies: Dependencies,
  { input, prepared, signal }: Calling,
): Promise<CallModelResult | Extract<Sent, { kind: 'again' }>> {
  const { place, engineId } = prepared;
  // The queue of an engine is served by workers that have its key.
  waitForKeys(dependencies, [place.provider.apiKeyEnv]);
  const admission = await beginCall(dependencies.db, {
    key: toCallKey(input),
    modelId: place.model.id,
    engineId,
    worstTokens: prepared.worst.tokens,
    worstUsd: prepared.worst.usd,
    maxRetries: place.provider.retry.max,
    waitedMs: countWaited(),
  });
  switch (admission.kind) {
    case 'granted': {
      const sent = await sendRequest(dependencies, { input, prepared, admission, signal });
      if (sent.kind === 'again') return sent;
      return sent.kind === 'kept' ? toAnswered(input, prepared, sent.answer) : sent.result;
    }
    case 'recorded': {
      const message = (await dependencies.blobs.loadJson(admission.answerDigest)) as AssistantMessage;
      return toAnswered(input, prepared, { ...admission, message, digest: admission.answerDigest });
    }
    case 'failed':
      await tellOfFailed(dependencies, { input, prepared, admission });
      return toFailed(admission, input);
    case 'engine_down': {
      const down = { engineId, reason: admission.reason, message: admission.message };
      const reason = await blockEngine(dependencies, { ...place, generation: input.cell.generation }, down);
      return admission.requests === 0
        ? { kind: 'stopped', scope: 'engine', code: admission.reason, message: reason.message }
        : toCutOff(input, reason);
    }
    case 'stopped':
      return { kind: 'stopped', scope: 'run', code: admission.reason };
    case 'over_budget':
      return { kind: 'stopped', scope: admission.scope, code: 'budget' };
    case 'wait':
      if (admission.reason === 'engine_down' && mayGiveWay(place.request.spec.environment, input))
        return { kind: 'held', waitMs: admission.waitMs };
      if (admission.reason === 'probe') dependencies.onEngine(engineId, 'unknown');
      throw comeBack(spreadWait(admission, dependencies.random()), `waiting: ${admission.reason}`);
  }
}

/** For a slot, a rate, a budget or an engine, since the call was asked for: what the first request of a call waited. */
const countWaited = (): number => Math.max(0, Date.now() - Context.current().info.scheduledTimestampMs);

function toAnswered(input: CallModelInput, prepared: PreparedCall, answer: KeptAnswer): CallModelResult {
  return {
    kind: 'answered',
    answerDigest: answer.digest,
    finishReason: answer.finishReason,
    outputTokens: answer.usage.outputTokens,
    outputLimit: outputCap(prepared.place.model),
    toolCalls: answer.message.toolCalls.map((call) => ({
      name: call.name.slice(0, 60),
      preview: previewArguments(call),
    })),
    preview: preview(answer.message.text),
    sequence: input.upToSequence + 1,
    spent: {
      tokens: totalTokens(answer.usage),
      costUsd: answer.costUsd,
      measuredMs: Math.round(answer.latencyMs),
    },
  };
}

/** Requests were sent before the engine went down: the cell has run, and does not any more. */
const toCutOff = ({ step }: CallModelInput, reason: Reason): CallModelResult => ({
  kind: 'ended',
  end: { kind: 'failed', outcome: step > 1 ? 'interrupted' : 'infra', reason },
  spent: { tokens: null, costUsd: null, measuredMs: 0 },
});

/** Whoever saw it fail may have died before the breaker was told. */
async function tellOfFailed(
  dependencies: Dependencies,
  {
    input,
    prepared,
    admission,
  }: {
    readonly input: CallModelInput;
    readonly prepared: PreparedCall;
    readonly admission: Extract<CallAdmission, { kind: 'failed' }>;
  },
): Promise<void> {
  const { class: name, message } = admission;
  if (name !== 'credential' && name !== 'billing' && name !== 'no_evidence') return;
  const engine = { engineId: prepared.engineId, role: toRole(toCallKey(input).purpose) };
  await tripEngine(dependencies.db, engine, { reason: name, message, resetMs: null });
}

/** The row says that this call has failed for good. */
const toFailed = (
  admission: Extract<CallAdmission, { kind: 'failed' }>,
  input: CallModelInput,
): CallModelResult => ({
  kind: 'ended',
  end: toAgentEnd({
    classified: { class: admission.class, message: admission.message, status: null },
    spentBefore: input.step > 1,
    requests: admission.failures,
  }),
  spent: { tokens: null, costUsd: null, measuredMs: 0 },
});

const PREVIEW_CHARACTERS = 80;

const preview = (text: string): string => {
  const flat = text
    .slice(0, 20 * PREVIEW_CHARACTERS)
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .trim();
  return flat.length > PREVIEW_CHARACTERS ? `${flat.slice(0, PREVIEW_CHARACTERS - 1)}…` : flat;
};

/** A single text, such as a shell command or a path, is shown as it is. */
function previewArguments({ arguments: given }: AssistantMessage['toolCalls'][number]): string {
  if (given.kind !== 'parsed') return preview(given.text);
  const { value } = given;
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  const [only] = values;
  return preview(values.length === 1 && typeof only === 'string' ? only : JSON.stringify(value));
}
