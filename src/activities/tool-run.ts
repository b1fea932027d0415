import { toIdempotencyKey, type ToolCallKey } from '../domain/ids.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import type { RunToolInput, RunToolResult, SessionRef } from '../domain/step.ts';
import type { AssistantMessage, ToolCall } from '../domain/transcript.ts';
import { SessionLostError } from '../environments/environment.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { cutForModel } from '../tools/cut-for-model.ts';
import { runTool } from '../tools/run-tool.ts';
import type { Tool, ToolContext, ToolResult } from '../tools/tool.ts';
import { toJsonBlob } from '../store/blobs.ts';
import { completeToolCall, startToolCall } from '../store/tool-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { ModuleError } from '../modules/module-error.ts';
import { checkPayload } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';
import { findRunTool } from './run-code.ts';
import { untilWritten } from './until-written.ts';

/**
 * Activity `runTool`: one tool call of an answer, write-ahead. The ledger decides whether it may run: a
 * completed call gives its stored output, a started one that may not be repeated ends the attempt.
 */
export const createToolRuns = (dependencies: Dependencies) => ({
  runTool: (input: RunToolInput): Promise<RunToolResult> =>
    withHeartbeat(async (signal) => checkPayload('runTool', await runOnce(dependencies, input, signal))),
});

async function runOnce(
  dependencies: Dependencies,
  input: RunToolInput,
  signal: AbortSignal,
): Promise<RunToolResult> {
  const message = (await dependencies.blobs.loadJson(input.answerDigest)) as AssistantMessage;
  const call = message.toolCalls[input.call - 1];
  if (call === undefined) throw new Error(`the answer has no tool call ${input.call}`);
  const place = await dependencies.runs.find(input.cell);
  const { harness } = place.request.spec;
  const offered = harness.kind === 'agent' ? harness.tools : [];
  const tool = offered.includes(call.name) ? findRunTool(dependencies.modules, place.plan, call.name) : null;
  const key = toToolCallKey(input);
  const ledger = await startToolCall(dependencies.db, {
    key,
    tool: call.name,
    argumentsDigest: toJsonBlob(call.arguments).digest,
    // A call that runs nothing (unknown tool, unreadable arguments) can be answered again.
    idempotent: tool === null || call.arguments.kind === 'unreadable' || tool.policy.idempotent,
  });
  if (ledger.kind === 'completed')
    return { kind: 'observed', status: ledger.status, preview: '', measuredMs: 0 };
  if (ledger.kind === 'unknown' && tool !== null) {
    const known = answerUnknown(tool);
    if (known.kind === 'refused') return known;
    if (known.kind === 'skip')
      return await observe(dependencies, { input, call, result: known.result, measuredMs: 0 });
  }
  const { modelId, caseId } = input.cell;
  const about = { context: place.plan.spec.context, modelId, caseId };
  return await execute(dependencies, { input, call, tool, offered, signal, about });
}

const toToolCallKey = ({ cell, tryNumber, step, call }: RunToolInput): ToolCallKey => ({
  runId: cell.runId,
  task: cell.task,
  attempt: cell.attempt,
  generation: cell.generation,
  tryNumber,
  step,
  call,
});

type Unknown =
  | { readonly kind: 'refused'; readonly end: AgentEnd }
  | { readonly kind: 'skip'; readonly result: ToolResult }
  | { readonly kind: 'rerun' };

/** A call that was started by a worker which died: nobody knows whether its effect took place (SPEC 8). */
function answerUnknown(tool: Tool): Unknown {
  switch (tool.policy.onUnknown) {
    case 'rerun':
      return { kind: 'rerun' };
    case 'skip':
      return {
        kind: 'skip',
        result: {
          status: 'unknown',
          text: 'The outcome of this call is unknown: the process that ran it was lost.',
        },
      };
    case 'ask':
    case 'refuse':
      return {
        kind: 'refused',
        end: {
          kind: 'failed',
          outcome: 'refused',
          reason: {
            code: 'tool_outcome_unknown',
            phase: 'run',
            message: `${tool.schema.name} was started, its worker was lost, and it may not be repeated; run the attempt again to start it from a fresh session`,
          },
        },
      };
  }
}

type Execution = {
  readonly input: RunToolInput;
  readonly call: ToolCall;
  readonly tool: Tool | null;
  readonly offered: readonly string[];
  readonly signal: AbortSignal;
  readonly about: Exclude<ToolContext['about'], undefined>;
};

async function execute(dependencies: Dependencies, execution: Execution): Promise<RunToolResult> {
  const { input, call, tool, offered, signal, about } = execution;
  const session = await attach(dependencies, input.session);
  if (session === 'lost') return { kind: 'refused', end: environmentLost(input.session) };
  const started = dependencies.now();
  const timeoutMs = Math.min(tool?.policy.timeoutMs ?? 1_000, input.timeLeftMs ?? Infinity);
  const idempotencyKey = toIdempotencyKey(toToolCallKey(input));
  const context = { session, idempotencyKey, timeoutMs, signal, about };
  const result = await runOrLose({ tool, call, offered, context }, input.session);
  if ('kind' in result) return result;
  const measuredMs = Math.round(result.measuredMs ?? dependencies.now() - started);
  return await observe(dependencies, { input, call, result, measuredMs, signal });
}

async function attach(
  { environmentFor }: Dependencies,
  ref: SessionRef | null,
): Promise<EnvironmentSession | null | 'lost'> {
  if (ref === null) return null;
  return (await environmentFor(ref.kind).attach(ref)) ?? 'lost';
}

/** What the tool gave, or why nothing could be run: its session went away, or its code is not to be had here. */
async function runOrLose(
  request: Parameters<typeof runTool>[0],
  session: SessionRef | null,
): Promise<ToolResult | Extract<RunToolResult, { kind: 'refused' }>> {
  try {
    return await runTool(request);
  } catch (error) {
    if (error instanceof SessionLostError) return { kind: 'refused', end: environmentLost(session) };
    if (error instanceof ModuleError) return { kind: 'refused', end: infra('module', error.message) };
    throw error;
  }
}

const environmentLost = (session: SessionRef | null): AgentEnd =>
  infra(
    'environment_lost',
    `session ${session?.sessionId ?? ''} is not on its host any more; \`assay resume\` runs the attempt again`,
  );

const infra = (code: string, message: string): AgentEnd => ({
  kind: 'failed',
  outcome: 'infra',
  reason: { code, phase: 'run', message },
});

/** Stores the output and the observation before anybody is told of them. */
async function observe(
  dependencies: Dependencies,
  seen: {
    readonly input: RunToolInput;
    readonly call: ToolCall;
    readonly result: ToolResult;
    readonly measuredMs: number;
    readonly signal?: AbortSignal;
  },
): Promise<RunToolResult> {
  const { input, call, result, measuredMs, signal } = seen;
  const output = dependencies.redact(result.text);
  const message = {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    text: cutForModel(output),
    status: result.status,
  } as const;
  const completion = {
    key: toToolCallKey(input),
    status: result.status,
    output,
    message,
    sequence: input.sequence,
  };
  await untilWritten(
    () => completeToolCall(dependencies.db, completion),
    signal ?? new AbortController().signal,
  );
  return {
    kind: 'observed',
    status: result.status,
    preview: message.text.slice(0, 80).toWellFormed(),
    measuredMs,
  };
}
