import { planRetry } from '../domain/retry-delay.ts';
import type { ClassifiedFailure } from '../domain/failure.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { toRetryHeaders, toWireError } from '../recording-proxy/failure-error.ts';
import { forward, type Forwarded } from '../recording-proxy/forward.ts';
import { toAgentHeaders } from '../recording-proxy/pass-through.ts';
import type { ProxiedRequest } from '../recording-proxy/proxy-server.ts';
import type { Asked } from '../recording-proxy/wire-form.ts';
import type { Dependencies } from './dependencies.ts';
import type { KeptAnswer } from './kept-answer.ts';
import { toRequestCell, toTimeouts } from './model-request.ts';
import type { ProxyTranscript } from './proxy-transcript.ts';
import type { CellPlace } from './run-reader.ts';
import { keepAnswer, settleFailed, toOwnFault, type SentRequest } from './settle-call.ts';
import { toUpstream } from './upstream.ts';

/** A request of an agent that has been granted. */
export type ProxiedCall = ProxiedRequest & {
  readonly asked: Asked;
  readonly place: CellPlace;
  readonly sent: SentRequest;
  /** Cap on output that is set where the agent sets none. */
  readonly maxOutputTokens: number | null;
  readonly transcript: ProxyTranscript;
  /** Aborts when the agent leaves or its attempt ends. */
  readonly signal: AbortSignal;
};

export type ProxiedEnd =
  | { readonly kind: 'answered'; readonly kept: KeptAnswer }
  | {
      readonly kind: 'failed';
      readonly failure: ClassifiedFailure;
      readonly usage: ProviderError['usage'];
    };

/** What is left to do once the row is settled. */
type Settled = { readonly end: ProxiedEnd; readonly reply: () => void };

/** Sends a granted request, settles its row whatever comes back, and only then ends the agent's answer. */
export async function runProxiedCall(
  dependencies: Dependencies,
  call: ProxiedCall,
  onSettled: (end: ProxiedEnd) => void,
): Promise<void> {
  const { end, reply } = await sendAndSettle(dependencies, call);
  onSettled(end);
  reply();
}

async function sendAndSettle(dependencies: Dependencies, call: ProxiedCall): Promise<Settled> {
  const { transcript, client, asked, sent, signal } = call;
  const started = dependencies.now();
  let isSent = false;
  try {
    await transcript.add(asked.messages, signal);
    signal.throwIfAborted();
    isSent = true;
    const result = await send(dependencies, call);
    const latencyMs = dependencies.now() - started;
    if (result.kind === 'failed') return await settleFailure(dependencies, call, { ...result, latencyMs });
    const sequence = transcript.nextSequence();
    const kept = await keepAnswer(dependencies, sent, { answer: result.answer, latencyMs, sequence });
    transcript.learn(result.answer.message);
    return { end: { kind: 'answered', kept }, reply: () => endAnswer(call, result.answer) };
  } catch (error) {
    const fault = signal.aborted ? toCut(signal, isSent) : toOwnFault(error);
    const latencyMs = dependencies.now() - started;
    const failed = { error: fault, refusal: null, isWhole: false, latencyMs };
    const settled = await settleFailure(dependencies, call, failed);
    return signal.aborted ? { ...settled, reply: () => client.breakOff() } : settled;
  }
}

const speaksForm = ({ form, place }: ProxiedCall): boolean => form.kinds.includes(place.provider.kind);

const send = (dependencies: Dependencies, call: ProxiedCall): Promise<Forwarded> =>
  speaksForm(call) ? sendOn(dependencies, call) : translate(dependencies, call);

/** The provider speaks the agent's form: the request goes on, and the answer back, as they are. */
function sendOn(dependencies: Dependencies, call: ProxiedCall): Promise<Forwarded> {
  const { form, body, search, client, place, maxOutputTokens, signal } = call;
  const { provider, model } = place;
  const upstream = toUpstream(dependencies, call);
  const change = { model: model.model, maxOutputTokens, kind: provider.kind };
  const request = {
    form,
    ...upstream,
    url: `${upstream.url}${search}`,
    body: JSON.stringify(form.complete(body, change)),
    hidesCounts: form.hidesCounts(body),
    timeouts: toTimeouts(place),
  };
  return forward(request, client, signal);
}

/** Any other provider is asked in Assay's own form; its answer is written in the agent's. */
async function translate(dependencies: Dependencies, call: ProxiedCall): Promise<Forwarded> {
  const { asked, place, maxOutputTokens, sent, signal } = call;
  const { key, requestNumber } = sent;
  const provider = dependencies.providerFor(place.provider, place.plan.spec.module);
  const request = {
    model: place.model.model,
    params: place.model.params,
    messages: asked.messages,
    tools: asked.tools,
    maxOutputTokens: asked.maxOutputTokens ?? maxOutputTokens,
    stream: place.provider.stream,
    timeouts: toTimeouts(place),
    cell: toRequestCell(place, key, requestNumber),
  };
  try {
    return { kind: 'answered', answer: await provider.call(request, signal) };
  } catch (error) {
    if (signal.aborted || !(error instanceof ProviderError)) throw error;
    return { kind: 'failed', error, refusal: null, isWhole: false };
  }
}

/** What was handed on as it came only has to end; what a provider said in Assay's form is written now. */
function endAnswer(call: ProxiedCall, answer: ModelAnswer): void {
  const { form, body, client, asked, place, sent } = call;
  const { response } = client;
  if (speaksForm(call)) {
    response.end();
    return;
  }
  const facts = {
    id: `${sent.key.task}-${sent.key.attempt}-${sent.key.tryNumber}-${sent.key.step}`,
    model: place.model.model,
    createdS: Math.floor(Date.now() / 1000),
    countsTokens: !form.hidesCounts(body),
  };
  if (!asked.isStreamed) return client.sendJson(200, form.writeAnswer(answer, facts));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of form.writeEvents(answer, facts)) response.write(event);
  response.end();
}

type Failed = Omit<Extract<Forwarded, { kind: 'failed' }>, 'kind'> & { readonly latencyMs: number };

async function settleFailure(
  dependencies: Dependencies,
  call: ProxiedCall,
  failed: Failed,
): Promise<Settled> {
  const { error, latencyMs } = failed;
  const { classified } = await settleFailed(dependencies, call.sent, {
    error,
    latencyMs,
    plan: (failure) => planPause(dependencies, call.place, failure),
    // The agent asks again by itself: what would be used up is its own.
    tells: (failure) => !failure.retryable,
  });
  const end = { kind: 'failed', failure: classified, usage: error.usage } as const;
  return { end, reply: () => replyFailure(dependencies, call, { ...failed, classified }) };
}

/** The agent gets what the provider said, or as much of it as there is. */
function replyFailure(
  { redact }: Dependencies,
  { form, client }: ProxiedCall,
  { refusal, isWhole, classified }: Failed & { readonly classified: ClassifiedFailure },
): void {
  const { response } = client;
  if (response.headersSent && isWhole) response.end();
  else if (response.headersSent) client.breakOff();
  else if (refusal !== null)
    response.writeHead(refusal.status, toAgentHeaders(refusal.headers)).end(redact(refusal.body));
  else client.sendError(form, toWireError(classified), toRetryHeaders(classified));
}

/** The agent asks again itself, in a call of its own; a long wait that the provider asks for holds for all. */
function planPause(dependencies: Dependencies, place: CellPlace, failure: ClassifiedFailure) {
  const { random, now } = dependencies;
  const { retry } = place.provider;
  const plan = planRetry({ failure, failuresSoFar: 0, retry, random: random(), now: now() });
  return plan.kind === 'retry' ? ({ kind: 'give_up' } as const) : plan;
}

/** Nobody knows how far the model came, unless nothing was sent. */
function toCut(signal: AbortSignal, isSent: boolean): ProviderError {
  const why: unknown = signal.reason;
  return new ProviderError({
    class: 'cancelled',
    retryable: false,
    status: null,
    retryAfterMs: null,
    served: isSent,
    message: why instanceof Error ? why.message : 'the request was cut off',
  });
}
