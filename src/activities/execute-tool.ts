import { toIdempotencyKey } from '../domain/ids.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import type { RunToolInput, RunToolResult, SessionRef } from '../domain/step.ts';
import type { ToolCall } from '../domain/transcript.ts';
import { SessionLostError, type EnvironmentSession } from '../environments/environment.ts';
import { ModuleError } from '../modules/module-error.ts';
import { runTool } from '../tools/run-tool.ts';
import type { Tool, ToolResult } from '../tools/tool.ts';
import type { Dependencies } from './dependencies.ts';
import { observe, toToolCallKey } from './observe-tool.ts';
import type { CellPlace } from './run-reader.ts';

/** One call with all that its answer depends on. */
export type ToolTurn = {
  readonly input: RunToolInput;
  readonly call: ToolCall;
  /** Null = the model was offered none of that name. */
  readonly tool: Tool | null;
  readonly offered: readonly string[];
  readonly place: CellPlace;
  /** Null where the request has none. */
  readonly session: EnvironmentSession | null | 'lost';
  readonly signal: AbortSignal;
};

type Ended = Extract<RunToolResult, { kind: 'ended' }>;

/** Runs a call whose row `started` is durable, and stores what it gave. */
export async function executeTool(dependencies: Dependencies, turn: ToolTurn): Promise<RunToolResult> {
  const { input, call, tool, offered, signal, place, session } = turn;
  if (session === 'lost') return environmentLost(input.session);
  const { modelId, caseId } = input.cell;
  const started = dependencies.now();
  const context = {
    session,
    idempotencyKey: toIdempotencyKey(toToolCallKey(input)),
    timeoutMs: Math.min(tool?.policy.timeoutMs ?? 1_000, input.timeLeftMs ?? Infinity),
    signal,
    about: { context: place.plan.spec.context, modelId, caseId },
  };
  const result = await runOrLose({ tool, call, offered, context }, input.session);
  if ('kind' in result) return result;
  const measuredMs = Math.round(result.measuredMs ?? dependencies.now() - started);
  return await observe(dependencies, { input, call, result, measuredMs, signal });
}

/** The session of a step, when it is still on this host. */
export async function attach(
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
): Promise<ToolResult | Ended> {
  try {
    return await runTool(request);
  } catch (error) {
    if (error instanceof SessionLostError) return environmentLost(session);
    if (error instanceof ModuleError) return infra('module', error.message);
    throw error;
  }
}

export const environmentLost = (session: SessionRef | null): Ended =>
  infra(
    'environment_lost',
    `session ${session?.sessionId ?? ''} is not on its host any more; \`assay resume\` runs the attempt again`,
  );

const infra = (code: string, message: string): Ended => ended('infra', code, message);

const ended = (
  outcome: (AgentEnd & { kind: 'failed' })['outcome'],
  code: string,
  message: string,
): Ended => ({
  kind: 'ended',
  end: { kind: 'failed', outcome, reason: { code, phase: 'run', message } },
});

/** A call that may not be repeated was started, and nobody knows how it ended. */
export const refuseUnknown = ({ call, input }: ToolTurn): Ended =>
  ended(
    'refused',
    'tool_outcome_unknown',
    `${call.name} was started, its worker was lost, and it may not be repeated${input.resolution === undefined ? '' : '; nobody decided on it in time'}; run the attempt again to start it from a fresh session`,
  );
