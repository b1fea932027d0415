import type { ServerResponse } from 'node:http';
import type { CallTimeouts } from '../domain/run.ts';
import { checkEvidence } from '../providers/answer-evidence.ts';
import { exchange, type ExchangeAnswer, type ExchangeHead } from '../providers/exchange.ts';
import { toFields } from '../providers/fields.ts';
import { toProviderError, type ProviderError } from '../providers/provider-error.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import type { AgentClient } from './agent-client.ts';
import { PassThrough } from './pass-through.ts';
import type { WireForm } from './wire-form.ts';

export type ForwardRequest = {
  readonly form: WireForm;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly hidesCounts: boolean;
  readonly timeouts: CallTimeouts & { readonly totalMs: number };
  readonly apiKey: string | null;
};

export type Forwarded =
  /** The answer has been handed on, but for its end. */
  | { readonly kind: 'answered'; readonly answer: ModelAnswer }
  | {
      readonly kind: 'failed';
      readonly error: ProviderError;
      /** What the provider answered instead; nothing of it has been handed on. */
      readonly refusal: ExchangeAnswer | null;
      /** Whether what was handed on is all that the provider sent. */
      readonly isWhole: boolean;
    };

/**
 * Sends a request and hands a good answer on to the agent byte by byte. The agent's response is left open: its
 * end is for after the row is settled. Rejects with the signal's reason when it is aborted.
 */
export async function forward(
  request: ForwardRequest,
  client: AgentClient,
  signal: AbortSignal,
): Promise<Forwarded> {
  const passing: Passing = { through: null, head: null, refusal: null, isWhole: false };
  try {
    return {
      kind: 'answered',
      answer: toAnswer(request.form, await send({ request, client, signal, passing })),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const known = toProviderError(error, { now: Date.now(), secret: request.apiKey });
    return { kind: 'failed', error: known, refusal: passing.refusal, isWhole: passing.isWhole };
  }
}

type Passing = {
  through: PassThrough | null;
  head: ExchangeHead | null;
  refusal: ExchangeAnswer | null;
  isWhole: boolean;
};

async function send(sending: {
  readonly request: ForwardRequest;
  readonly client: AgentClient;
  readonly signal: AbortSignal;
  readonly passing: Passing;
}): Promise<{ readonly answer: ExchangeAnswer; readonly notes: readonly string[] }> {
  const { request, client, signal, passing } = sending;
  const { url, headers, body, timeouts } = request;
  const onHead = (head: ExchangeHead): PassThrough | null => {
    passing.head = head;
    if (head.status >= 200 && head.status <= 299) passing.through = open(request, client.response, head);
    // An agent that leaves after the last word has not cut anything off.
    client.staysWhile(() => passing.through?.isFinished === true);
    return passing.through;
  };
  const sent = { method: 'POST' as const, url, headers, body, timeouts, signal, onHead };
  try {
    const answer = await exchange(sent);
    passing.isWhole = true;
    if (passing.through === null) passing.refusal = answer;
    return { answer: { ...answer, body: passing.through?.end() ?? answer.body }, notes: [] };
  } catch (error) {
    const { through, head } = passing;
    if (signal.aborted || through?.isFinished !== true || head === null) throw error;
    const notes = ['the connection broke after the answer was complete'];
    return { answer: { ...head, body: through.end() }, notes };
  }
}

const open = (request: ForwardRequest, response: ServerResponse, head: ExchangeHead): PassThrough =>
  new PassThrough(response, head, {
    createFolder: request.form.createFolder,
    hidesCounts: request.hidesCounts,
  });

function toAnswer(
  form: WireForm,
  { answer, notes }: { readonly answer: ExchangeAnswer; readonly notes: readonly string[] },
): ModelAnswer {
  const read = form.readAnswer(answer);
  const { message, finishReason } = form.readSaid(toFields(read.body));
  const counted = checkEvidence(message, read.usage);
  return {
    message,
    finishReason,
    usage: counted.usage,
    reportedCostUsd: read.reportedCostUsd,
    answerId: read.answerId,
    notes: [...read.notes, ...notes, ...counted.notes],
  };
}
