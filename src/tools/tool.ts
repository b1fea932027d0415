import type { EnvironmentSession } from '../environments/environment.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolSchema, ToolStatus } from '../domain/transcript.ts';

export type ToolContext = {
  readonly session: EnvironmentSession;
  /** Equal for every delivery of the same call. */
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export type ToolResult = {
  readonly status: ToolStatus;
  /** Full text; the caller cuts what the model reads. */
  readonly text: string;
};

/** How a tool may be repeated (SPEC 8). */
export type ToolPolicy = {
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly onUnknown: 'refuse' | 'ask' | 'rerun' | 'skip';
};

export interface Tool {
  readonly schema: ToolSchema;
  readonly policy: ToolPolicy;
  /** Bad arguments, failures and time-outs are results, not exceptions. */
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>;
}
