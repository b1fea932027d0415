import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../domain/json.ts';
import { drawFrom } from '../domain/stable-hash.ts';
import type { Target } from '../domain/suite.ts';
import { toTargetText } from '../domain/suite.ts';
import type { FinishReason, Message, ToolCall } from '../domain/transcript.ts';
import { UNKNOWN_USAGE } from '../domain/usage.ts';
import type { Usage } from '../domain/usage.ts';
import { TIMER_LIMIT_MS } from './call-timers.ts';
import { parseToolArguments, toToolCallId } from './ai-sdk.ts';
import { findFault, toFaultError } from './mock-fault.ts';
import { isMockMode, MOCK_MODES, mockParams } from './mock-params.ts';
import type { MockMode, MockParams, MockStep } from './mock-params.ts';
import { readParams, toParamsFault } from './params.ts';
import { CallFault, toProviderError } from './provider-error.ts';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.ts';

export type MockOptions = {
  /** The answer of a case, for the modes that know it; null = the case has none. */
  readonly resolveTarget: (cell: ModelRequest['cell']) => Promise<Target | null>;
};

const WRONG_TEXT = 'I do not know.';

/**
 * Scripted models in this process: no network, no cost, equal answers for equal (seed, model, case,
 * attempt, step). The model's name is its mode.
 */
export class MockProvider implements ModelProvider {
  readonly #options: MockOptions;
  /** A plan's parameters are one object for all its calls: they are checked once. */
  readonly #checked = new WeakMap<object, MockParams>();

  constructor(options: MockOptions) {
    this.#options = options;
  }

  async call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    signal.throwIfAborted();
    try {
      return await this.#answer(request, signal);
    } catch (error) {
      throw error instanceof CallFault ? toProviderError(error, { now: Date.now() }) : error;
    }
  }

  async #answer(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const params = this.#toParams(request);
    const step = await this.#toStep(request, params);
    const fault = findFault(request, params, step);
    if (fault?.kind === 'hang') await wait(Infinity, request, signal);
    await wait(drawLatencyMs(request, params, step), request, signal);
    if (fault !== null) throw toFaultError(fault, request);
    return toAnswer(request, params, step);
  }

  async checkHealth(signal: AbortSignal): Promise<string | null> {
    signal.throwIfAborted();
    return null;
  }

  #toParams(request: ModelRequest): MockParams {
    const known = this.#checked.get(request.params);
    if (known !== undefined) return known;
    const params = readParams(mockParams, request.params);
    this.#checked.set(request.params, params);
    return params;
  }

  async #toStep(request: ModelRequest, params: MockParams): Promise<MockStep> {
    const mode = toMode(request.model);
    switch (mode) {
      case 'oracle':
        return { say: await this.#toTargetText(request) };
      case 'flaky': {
        const right = draw(request, params, 'accuracy') < (params.accuracy ?? 1);
        return { say: right ? await this.#toTargetText(request) : (params.wrongText ?? WRONG_TEXT) };
      }
      case 'fixed':
        return { say: params.text ?? '' };
      case 'echo':
        return { say: request.messages.findLast((message) => message.role === 'user')?.text ?? '' };
      case 'empty':
        return {};
      case 'answers':
        return { say: findAnswer(params, request.cell.caseId) ?? params.wrongText ?? '' };
      case 'script':
        return findScriptStep(request, params);
    }
  }

  async #toTargetText(request: ModelRequest): Promise<string> {
    const target = await this.#options.resolveTarget(request.cell);
    const first = target?.values[0];
    return first === undefined ? '' : toTargetText(first);
  }
}

function toMode(model: string): MockMode {
  if (isMockMode(model)) return model;
  throw toParamsFault([`unknown mock model "${model}": expected one of ${MOCK_MODES.join(', ')}`]);
}

/** In [0, 1), equal for every run with equal parameters; `purpose` keeps draws apart. */
function draw(request: ModelRequest, params: MockParams, purpose: string): number {
  const { cell } = request;
  return drawFrom(
    JSON.stringify([cell.modelId, cell.caseId, cell.attempt, purpose]),
    params.seed ?? cell.seed,
  );
}

/** A case may be called `constructor`. */
const findAnswer = ({ answers }: MockParams, caseId: string): string | undefined =>
  answers !== undefined && Object.hasOwn(answers, caseId) ? answers[caseId] : undefined;

/** The step that follows the answers given so far; past the end of the script an empty answer. */
function findScriptStep(request: ModelRequest, params: MockParams): MockStep {
  const { script } = params;
  const { caseId } = request.cell;
  const own = script !== undefined && Object.hasOwn(script.cases, caseId) ? script.cases[caseId] : undefined;
  const branches = own ?? script?.default;
  const steps = draw(request, params, 'skill') < (params.skill ?? 1) ? branches?.good : branches?.bad;
  return steps?.[request.messages.filter((message) => message.role === 'assistant').length] ?? {};
}

function drawLatencyMs(request: ModelRequest, params: MockParams, step: MockStep): number {
  const latency = step.latencyMs ?? params.latencyMs ?? 0;
  if (typeof latency === 'number') return latency;
  const [from, to] = latency;
  const { step: index, requestNumber } = request.cell;
  return from + (to - from) * draw(request, params, `latency/${index}/${requestNumber}`);
}

/** Waits, but no longer than the call may take; rejects with the signal's reason. */
async function wait(waitMs: number, request: ModelRequest, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0) return;
  const limitMs = request.timeouts.totalMs;
  try {
    await sleep(Math.min(waitMs, limitMs, TIMER_LIMIT_MS), undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  if (waitMs > limitMs) throw toFaultError({ kind: 'hang' }, request);
}

function toAnswer(request: ModelRequest, params: MockParams, step: MockStep): ModelAnswer {
  const toolCalls = (step.tools ?? []).map((tool, index) => toToolCall(request, tool, index + 1));
  const limitTokens = request.maxOutputTokens ?? params.maxOutputTokens ?? Infinity;
  const said = step.say ?? '';
  const text = toTokens(said) > limitTokens ? said.slice(0, limitTokens * 4) : said;
  const finish: FinishReason = toolCalls.length > 0 ? 'tool_calls' : text === said ? 'stop' : 'length';
  const message = { role: 'assistant' as const, text, reasoning: step.reasoning ?? null, toolCalls };
  return {
    message,
    finishReason: step.finish ?? finish,
    usage: toUsage(request.messages, message, step.usage ?? params.usage),
    reportedCostUsd: null,
    answerId: `mock/${request.cell.caseId}/a${request.cell.attempt}/s${request.cell.step}`,
    notes: [],
  };
}

function toToolCall(
  request: ModelRequest,
  tool: { readonly name: string; readonly arguments: string | { readonly [name: string]: Json } },
  number: number,
): ToolCall {
  const given = tool.arguments;
  return {
    id: toToolCallId(request.cell.step, number),
    name: tool.name,
    arguments: typeof given === 'string' ? parseToolArguments(given) : { kind: 'parsed', value: given },
  };
}

/** About four characters a token, rounded up. */
const toTokens = (text: string): number => Math.ceil(text.length / 4);

function toUsage(
  messages: readonly Message[],
  answer: Extract<Message, { role: 'assistant' }>,
  stated: { readonly inputTokens: number; readonly outputTokens: number } | undefined,
): Usage {
  if (stated !== undefined) return { ...UNKNOWN_USAGE, ...stated };
  const reasoningTokens = toTokens(answer.reasoning ?? '');
  return {
    ...UNKNOWN_USAGE,
    inputTokens: messages.reduce((sum, message) => sum + toMessageTokens(message), 0),
    outputTokens: reasoningTokens + toMessageTokens(answer),
    ...(answer.reasoning === null ? {} : { reasoningTokens }),
  };
}

/** Messages of a long agent are the same objects from one request to the next: each is counted once. */
const counted = new WeakMap<Message, number>();

function toMessageTokens(message: Message): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const calls = message.role === 'assistant' && message.toolCalls.length > 0 ? message.toolCalls : null;
  const tokens = toTokens(message.text) + (calls === null ? 0 : toTokens(JSON.stringify(calls)));
  counted.set(message, tokens);
  return tokens;
}
