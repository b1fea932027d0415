import { toIdempotencyKey } from '../domain/ids.ts';
import type { RunToolInput, RunToolResult } from '../domain/step.ts';
import { decideToolCall, type LedgerDecision } from '../domain/tool-ledger.ts';
import { toToolPolicy } from '../domain/tool-policy.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import { askAboutCall, recordResolution } from '../store/asked-calls.ts';
import { toJsonBlob } from '../store/blobs.ts';
import { rerunToolCall, startToolCall, type ToolStart } from '../store/tool-calls.ts';
import { runsNothing } from '../tools/run-tool.ts';
import type { ToolResult } from '../tools/tool.ts';
import type { Dependencies } from './dependencies.ts';
import { attach, executeTool, refuseUnknown, type ToolTurn } from './execute-tool.ts';
import { checkPayload } from './failure.ts';
import { untilCancelled } from './heartbeat.ts';
import { joinDeliveries } from './join-deliveries.ts';
import { observe, toSubmitted, toToolCallKey } from './observe-tool.ts';
import { findOfferedTool } from './mcp-tools.ts';
import { workflowIdOf } from './workflow-id.ts';

/**
 * Activity `runTool`: one tool call of an answer, write-ahead. The ledger decides whether it may run
 * (`decideToolCall`); a call whose row cannot be written does not run. A delivery that comes while an earlier one
 * of this process still runs is answered by that one.
 */
export function createToolRuns(dependencies: Dependencies) {
  const runOrJoin = joinDeliveries({
    toKey: (input: RunToolInput) => toIdempotencyKey(toToolCallKey(input)),
    run: (input: RunToolInput, signal) => runOnce(dependencies, input, signal),
  });
  return {
    runTool: (input: RunToolInput): Promise<RunToolResult> =>
      untilCancelled(async (signal) => checkPayload('runTool', await runOrJoin(input, signal))),
  };
}

async function runOnce(
  dependencies: Dependencies,
  input: RunToolInput,
  signal: AbortSignal,
): Promise<RunToolResult> {
  const message = (await dependencies.blobs.loadJson(input.answerDigest)) as AssistantMessage;
  const call = message.toolCalls[input.call - 1];
  if (call === undefined) throw new Error(`the answer has no tool call ${input.call}`);
  const place = await dependencies.runs.find(input.cell);
  const session = await attach(dependencies, input.session);
  const where = {
    place,
    cell: input.cell,
    tryNumber: input.tryNumber,
    session: session === 'lost' ? null : session,
  };
  const { tool, offered } = await findOfferedTool(dependencies, where, call.name);
  const turn: ToolTurn = { input, call, tool, offered, place, session, signal };
  const policy = toPolicy(turn);
  const start = await startToolCall(dependencies.db, {
    key: toToolCallKey(input),
    tool: call.name,
    argumentsDigest: toJsonBlob(call.arguments).digest,
    idempotent: policy.idempotent,
    repaired: call.arguments.kind === 'parsed' && call.arguments.writtenAs !== undefined,
  });
  const { resolution } = input;
  if (resolution !== undefined && start.kind === 'started')
    await recordResolution(dependencies.db, { key: toToolCallKey(input), resolution });
  return await act(dependencies, turn, { start, decision: decideToolCall(start, policy, resolution) });
}

/** A call that runs nothing (unknown tool, arguments that do not fit) can be answered again. */
const toPolicy = ({ tool, call }: ToolTurn) =>
  tool === null || runsNothing(tool, call) ? toToolPolicy({ idempotent: true }) : tool.policy;

type Decided = { readonly start: ToolStart; readonly decision: LedgerDecision };

async function act(
  dependencies: Dependencies,
  turn: ToolTurn,
  { start, decision }: Decided,
): Promise<RunToolResult> {
  const executions = start.kind === 'started' ? start.executions : 1;
  switch (decision) {
    case 'run':
      return await executeTool(dependencies, turn);
    case 'run_again': {
      const again = await rerunToolCall(dependencies.db, { key: toToolCallKey(turn.input), executions });
      if (!again) throw new Error('the call was completed or started again meanwhile');
      return await executeTool(dependencies, turn);
    }
    case 'replay':
      return await replay(dependencies, turn, start);
    case 'refuse':
      return refuseUnknown(turn);
    case 'ask':
      return await ask(dependencies, turn, executions);
    case 'skip':
      return await say(dependencies, turn, UNKNOWN);
    case 'accept':
      return await say(dependencies, turn, toAccepted(turn.input.resolution?.output));
  }
}

/** The transcript holds the observation; a submitted answer is read from the call's own arguments. */
async function replay(
  dependencies: Dependencies,
  { call, tool, input, signal }: ToolTurn,
  start: ToolStart,
): Promise<RunToolResult> {
  if (tool?.place === 'free' && call.arguments.kind === 'parsed') {
    const context = { session: null, idempotencyKey: '', timeoutMs: tool.policy.timeoutMs, signal };
    const { final } = await tool.run(call.arguments.value, context);
    if (final !== undefined) return await toSubmitted(dependencies, final, 0);
  }
  if (start.kind !== 'completed') throw new Error(`call ${input.call} has no stored output`);
  return { kind: 'observed', status: start.status, preview: '', measuredMs: 0 };
}

async function ask(
  { db }: Dependencies,
  { input, call }: ToolTurn,
  executions: number,
): Promise<RunToolResult> {
  await askAboutCall(db, { key: toToolCallKey(input), workflowId: workflowIdOf() });
  const { tryNumber, step } = input;
  const tool = call.name.slice(0, 60);
  const preview = JSON.stringify(call.arguments.kind === 'parsed' ? call.arguments.value : '').slice(0, 200);
  return {
    kind: 'asked',
    asked: { tryNumber, step, call: input.call, tool, preview: preview.toWellFormed(), executions },
  };
}

const say = (dependencies: Dependencies, turn: ToolTurn, result: ToolResult): Promise<RunToolResult> =>
  observe(dependencies, { ...turn, result, measuredMs: 0 });

const UNKNOWN: ToolResult = {
  status: 'unknown',
  text: 'The outcome of this call is unknown: the process that ran it was lost. It may or may not have had its effect.',
};

const toAccepted = (output: string | undefined): ToolResult => ({
  status: 'success',
  text: output ?? 'The call took effect, but its output was lost.',
});
