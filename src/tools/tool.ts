import type { EnvironmentSession } from '../environments/environment.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolPolicy } from '../domain/tool-policy.ts';
import type { ToolSchema, ToolStatus } from '../domain/transcript.ts';

export type ToolContext = {
  /** Null where the request has no environment: only tools of the run file are offered there. */
  readonly session: EnvironmentSession | null;
  /** Equal for every delivery of the same call. */
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whose call it is; what only tools of a run file are told. */
  readonly about?: { readonly context: JsonObject; readonly modelId: string; readonly caseId: string };
};

export type ToolResult = {
  readonly status: ToolStatus;
  /** Full text; the caller cuts what the model reads. */
  readonly text: string;
  /** Time of the work itself, where waits for a place were part of the call. */
  readonly measuredMs?: number;
  /** The agent's final answer: it ends here. */
  readonly final?: string;
};

export interface Tool {
  readonly schema: ToolSchema;
  readonly policy: ToolPolicy;
  /** Where it acts: in the attempt's session, in a process of its own, or nowhere: it only says something. */
  readonly place: 'session' | 'process' | 'free';
  /** Bad arguments, failures and time-outs are results, not exceptions. */
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>;
}
