import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../domain/json.ts';
import { CommandLostError, SessionLostError } from '../environments/environment.ts';
import type { ToolCall } from '../domain/transcript.ts';
import { findArgumentErrors, formatArgumentErrors } from './argument-schema.ts';
import { cutForModel } from './cut-for-model.ts';
import type { Tool, ToolContext, ToolResult } from './tool.ts';

/** Tools end by themselves at their limit; one that does not is left after this time more. */
const OWN_END_MS = 5_000;

/** Unreadable arguments are shown up to this size. */
const SHOWN_BYTES = 400;

/**
 * Runs one tool call of an answer. `tool` is null when the model was offered none of that name, `offered`
 * the names that it was. Bad arguments, failures and time-outs are results for the model.
 * Throws the signal's reason when it is aborted, a `SessionLostError` and a `CommandLostError`: none is the model's doing.
 */
export async function runTool(request: {
  readonly tool: Tool | null;
  readonly offered: readonly string[];
  readonly call: ToolCall;
  readonly context: ToolContext;
}): Promise<ToolResult> {
  const { tool, call, context } = request;
  context.signal.throwIfAborted();
  if (tool === null) return explainUnknown(call.name, request.offered);
  const { arguments: given } = call;
  if (given.kind === 'unreadable') return explainUnreadable(tool, given.text);
  const errors = findArgumentErrors(tool.schema.parameters, given.value);
  if (errors.length > 0)
    return { status: 'error', text: `${tool.schema.name} was not run. ${formatArgumentErrors(errors)}` };
  // It has its own limits, and turns all that its code does into a result: what it throws is nobody's observation.
  if (tool.place === 'process') return await tool.run(given.value, context);
  return await runInTime(tool, given.value, context);
}

/** Whether a call is answered without anything being run, so that it can be answered again whatever its tool's policy. */
export const runsNothing = (tool: Tool, { arguments: given }: ToolCall): boolean =>
  given.kind === 'unreadable' || findArgumentErrors(tool.schema.parameters, given.value).length > 0;

const FIRST_DELAY_MS = 200;

/** Runs again what failed for a passing reason, as often as the policy allows and inside one time limit. */
async function runInTime(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const startedMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const leftMs = Math.max(1, context.timeoutMs - (attempt === 1 ? 0 : performance.now() - startedMs));
    try {
      const own = { ...context, timeoutMs: leftMs };
      return await withTimeout(tool.run(args, own), tool.schema.name, own);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof SessionLostError || error instanceof CommandLostError) throw error;
      const delayMs = FIRST_DELAY_MS * 2 ** (attempt - 1);
      const isOver = attempt >= tool.policy.maxAttempts || delayMs >= leftMs;
      if (isOver || !isPassing(error)) return toErrorResult(error, attempt);
      await delay(delayMs, undefined, { signal: context.signal });
    }
  }
}

/** Nothing is known to pass but what says so, and faults of connections and of a busy machine. */
const PASSING = /^(ECONN(RESET|REFUSED|ABORTED)|EPIPE|ETIMEDOUT|EAI_AGAIN|EBUSY|EAGAIN|EMFILE|ENFILE)$/;

function isPassing(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { retryable, code } = error as { readonly retryable?: unknown; readonly code?: unknown };
  return retryable === true || (typeof code === 'string' && PASSING.test(code));
}

function toErrorResult(error: unknown, attempt: number): ToolResult {
  const text = error instanceof Error ? error.message : String(error);
  return { status: 'error', text: attempt === 1 ? text : `${text} (${attempt} times)` };
}

function explainUnknown(name: string, offered: readonly string[]): ToolResult {
  const names = offered.length === 0 ? 'There are no tools.' : `Tools: ${offered.join(', ')}.`;
  return { status: 'error', text: `There is no tool "${cutForModel(name, SHOWN_BYTES)}". ${names}` };
}

function explainUnreadable(tool: Tool, text: string): ToolResult {
  const shown = cutForModel(text, SHOWN_BYTES);
  const expected = `Expected one JSON object that fits ${JSON.stringify(tool.schema.parameters)}`;
  return {
    status: 'error',
    text: `${tool.schema.name} was not run: its arguments were not JSON: ${shown}\n${expected}. Send the call again.`,
  };
}

async function withTimeout(
  running: Promise<ToolResult>,
  name: string,
  { timeoutMs, signal }: ToolContext,
): Promise<ToolResult> {
  const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
  const text = `${name} timed out: no result after ${(timeoutMs / 1000).toFixed(1)} s, its limit. Whether it had an effect is not known.`;
  const timer = setTimeout(() => resolve({ status: 'timeout', text }), timeoutMs + OWN_END_MS);
  // A tool that hears the signal ends what it started first; one that does not is not waited for.
  const onAbort = (): void => void setTimeout(() => reject(signal.reason as Error), OWN_END_MS).unref();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
