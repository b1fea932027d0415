import type { ModuleTool, RunModule } from '../domain/run-module.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Tool, ToolContext, ToolResult } from '../tools/tool.ts';
import type { ToolAnswer } from './child-messages.ts';
import { formatError } from './error-facts.ts';
import type { ModulePool } from './module-pool.ts';
import type { CallEnd } from './module-process.ts';

/** A tool of a run file, run in a process of its own. */
export const createModuleTool = (pool: ModulePool, module: RunModule, tool: ModuleTool): Tool => ({
  schema: tool.schema,
  policy: tool.policy,
  place: 'process',
  run: (args, context) => execute({ pool, module, tool, args, context }),
});

type Execution = {
  readonly pool: ModulePool;
  readonly module: RunModule;
  readonly tool: ModuleTool;
  readonly args: JsonObject;
  readonly context: ToolContext;
};

/** A call whose process broke, or whose error says that it may pass, goes again as often as the tool allows. */
async function execute(execution: Execution): Promise<ToolResult> {
  const { tool, context } = execution;
  let measuredMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const timeoutMs = Math.max(1, context.timeoutMs - measuredMs);
    const end = await send(execution, attempt, timeoutMs);
    measuredMs += end.measuredMs;
    const mayPass = end.kind === 'crashed' || (end.kind === 'failed' && end.error.retryable);
    if (!mayPass || attempt >= tool.policy.maxAttempts || measuredMs >= context.timeoutMs) {
      return { ...toResult(tool.schema.name, end, { attempt, timeoutMs }), measuredMs };
    }
  }
}

function send({ pool, module, tool, args, context }: Execution, attempt: number, timeoutMs: number) {
  const { idempotencyKey, signal, about } = context;
  return pool.call(
    module,
    {
      kind: 'tool',
      name: tool.schema.name,
      args,
      idempotencyKey,
      attempt,
      timeoutMs,
      context: about?.context ?? {},
      modelId: about?.modelId ?? '',
      caseId: about?.caseId ?? '',
    },
    { timeoutMs, signal },
  );
}

type Last = { readonly attempt: number; readonly timeoutMs: number };

function toResult(name: string, end: CallEnd, { attempt, timeoutMs }: Last): ToolResult {
  const times = attempt === 1 ? '' : ` (${attempt} times)`;
  switch (end.kind) {
    case 'answered':
      return end.answer as ToolAnswer;
    case 'failed':
      return { status: 'error', text: `${name} failed${times}: ${formatError(end.error)}` };
    case 'crashed':
      return {
        status: 'error',
        text: `${name} broke off${times}: ${end.message}. Whether it had an effect is not known.`,
      };
    case 'timeout':
      return {
        status: 'timeout',
        text: `${name} timed out after ${seconds(end.measuredMs)}, its limit is ${seconds(timeoutMs)}; it and all that it started were ended. Whether it had an effect is not known.`,
      };
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
