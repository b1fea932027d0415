import { z } from 'zod';
import type { FailureRule } from '../domain/classify-failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolArguments, ToolCall } from '../domain/transcript.ts';
import { UNKNOWN_USAGE } from '../domain/usage.ts';
import { parseToolArguments, toToolCallId } from './ai-sdk.ts';
import { TIMER_LIMIT_MS, toTimeOutFault } from './call-timers.ts';
import type { PlugInContext, ProviderDefinition } from './define-provider.ts';
import { readParams } from './params.ts';
import { createFault, toProviderError } from './provider-error.ts';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.ts';

export type PlugInOptions = {
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly rules?: readonly FailureRule[];
};

const tokens = z.int().min(0).nullable().optional();

const answerSchema = z.strictObject({
  text: z.string().default(''),
  reasoning: z.string().optional(),
  toolCalls: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        name: z.string(),
        arguments: z.union([z.string(), z.record(z.string(), z.json())]),
      }),
    )
    .default([]),
  finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other']).optional(),
  usage: z
    .strictObject({
      inputTokens: tokens,
      outputTokens: tokens,
      reasoningTokens: tokens,
      cacheReadTokens: tokens,
      cacheWriteTokens: tokens,
    })
    .default({}),
  costUsd: z.number().min(0).optional(),
  answerId: z.string().optional(),
  notes: z.array(z.string()).default([]),
});

/** Runs a plug-in's code as a provider: its time ends, its answers are checked, its errors are classified. */
export class PlugInProvider implements ModelProvider {
  readonly #definition: ProviderDefinition;
  readonly #options: PlugInOptions;

  constructor(definition: ProviderDefinition, options: PlugInOptions) {
    this.#definition = definition;
    this.#options = options;
  }

  async call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    signal.throwIfAborted();
    const { params } = this.#definition;
    try {
      if (params !== undefined) readParams(params, request.params);
      const said = await withinTime(request, signal, (inner) =>
        this.#definition.call(request, this.#toContext(inner)),
      );
      return toAnswer(this.#readAnswer(said), request);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const { rules, apiKey } = this.#options;
      throw toProviderError(error, {
        now: Date.now(),
        secret: apiKey,
        ...(rules === undefined ? {} : { rules }),
      });
    }
  }

  async checkHealth(signal: AbortSignal): Promise<string | null> {
    return (await this.#definition.checkHealth?.(this.#toContext(signal))) ?? null;
  }

  #toContext(signal: AbortSignal): PlugInContext {
    const { apiKey } = this.#options;
    return { apiKey, baseUrl: this.#options.baseUrl ?? this.#definition.baseUrl ?? null, signal };
  }

  #readAnswer(said: unknown): z.output<typeof answerSchema> {
    const read = answerSchema.safeParse(said);
    if (read.success) return read.data;
    const lines = read.error.issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`);
    throw createFault({
      class: 'bad_answer',
      // The plug-in's own mistake, and paid for: asking again brings the same.
      retryable: false,
      message: `provider kind "${this.#definition.kind}" gave no proper answer: ${lines.join('; ')}`,
    });
  }
}

/** A plug-in may not look at its signal: the call ends all the same. */
async function withinTime<T>(
  { timeouts: { totalMs } }: ModelRequest,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const own = new AbortController();
  const stop = (reason: unknown): void => {
    reject(reason);
    own.abort(reason);
  };
  const onAbort = (): void => stop(signal.reason);
  const started = performance.now();
  const timer =
    totalMs > TIMER_LIMIT_MS
      ? undefined
      : setTimeout(() => stop(toTimeOutFault('total', totalMs, performance.now() - started)), totalMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(own.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function toAnswer(said: z.output<typeof answerSchema>, request: ModelRequest): ModelAnswer {
  const toolCalls = said.toolCalls.reduce<ToolCall[]>((calls, call) => {
    const taken = call.id === undefined || call.id === '' || calls.some(({ id }) => id === call.id);
    const id = taken ? toToolCallId(request.cell.step, calls.length + 1) : (call.id ?? '');
    return [...calls, { id, name: call.name, arguments: toArguments(call.arguments) }];
  }, []);
  const usage = Object.entries(said.usage).filter(([, value]) => value !== undefined);
  return {
    message: { role: 'assistant', text: said.text, reasoning: said.reasoning ?? null, toolCalls },
    finishReason: said.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    usage: { ...UNKNOWN_USAGE, ...Object.fromEntries(usage) },
    reportedCostUsd: said.costUsd ?? null,
    answerId: said.answerId ?? null,
    notes: said.notes,
  };
}

const toArguments = (given: string | JsonObject): ToolArguments =>
  typeof given === 'string' ? parseToolArguments(given) : { kind: 'parsed', value: given };
