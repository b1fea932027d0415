import { toAgentEnd } from '../domain/call-end.ts';
import { outputCap } from '../domain/estimate.ts';
import type { CallModelInput, CallModelResult } from '../domain/step.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import { totalTokens } from '../domain/usage.ts';
import { beginCall, type CallAdmission } from '../store/model-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { checkPayload, comeBack } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';
import { toCallKey, type KeptAnswer } from './kept-answer.ts';
import { buildRequest, type PreparedCall } from './model-request.ts';
import { sendRequest } from './model-send.ts';
import { spreadWait } from './spread-wait.ts';

/**
 * Activity `callModel`: one model call, write-ahead. The store's row decides whether it may start, and
 * answers by itself when the call has been made before. Waits are booked in the row and spent outside.
 */
export const createModelCalls = (dependencies: Dependencies) => ({
  callModel: (input: CallModelInput): Promise<CallModelResult> =>
    withHeartbeat(async (signal) => checkPayload('callModel', await callOnce(dependencies, input, signal))),
});

const KEY_WAIT_MS = 5_000;

async function callOnce(
  dependencies: Dependencies,
  input: CallModelInput,
  signal: AbortSignal,
): Promise<CallModelResult> {
  const prepared = await buildRequest(dependencies, input);
  const { place, engineId } = prepared;
  const { apiKeyEnv } = place.provider;
  // The queue of an engine is served by workers that have its key; asked before anything is counted or sent.
  if (apiKeyEnv !== null && dependencies.readKey(apiKeyEnv) === null) {
    throw comeBack(KEY_WAIT_MS, `Waiting for ${apiKeyEnv}, which this worker has not.`);
  }
  const admission = await beginCall(dependencies.db, {
    key: toCallKey(input),
    modelId: place.model.id,
    engineId,
    worstTokens: prepared.worst.tokens,
    worstUsd: prepared.worst.usd,
    maxRetries: place.provider.retry.max,
  });
  switch (admission.kind) {
    case 'granted': {
      const sent = await sendRequest(dependencies, { input, prepared, admission, signal });
      return sent.kind === 'kept' ? toAnswered(input, prepared, sent.answer) : sent.result;
    }
    case 'recorded': {
      const message = (await dependencies.blobs.loadJson(admission.answerDigest)) as AssistantMessage;
      return toAnswered(input, prepared, { ...admission, message, digest: admission.answerDigest });
    }
    case 'failed':
      return toFailed(admission, input);
    case 'stopped':
      return { kind: 'stopped', scope: 'run', code: admission.reason };
    case 'over_budget':
      return { kind: 'stopped', scope: admission.scope, code: 'budget' };
    case 'wait':
      throw comeBack(spreadWait(admission, dependencies.random()), `waiting: ${admission.reason}`);
  }
}

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
