import type { Json, JsonObject } from '../domain/json.ts';
import { mark, type Defined } from './definition.ts';
import type { ObjectSchema, ValueOf, ZodSchema } from './schema-types.ts';

/** `250ms`, `30s`, `10m`, `2h`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h'}`;

/** What a tool may know of its call. */
export type ToolCallContext = {
  /** Equal for every execution of the same call: hand it to services that take one. */
  readonly idempotencyKey: string;
  /** Aborts at the tool's time-out and when the run is cancelled; a moment later the process is ended. */
  readonly signal: AbortSignal;
  /** Which execution of this call this is, from 1. */
  readonly attempt: number;
  readonly timeoutMs: number;
  /** `context` of the run file. */
  readonly context: JsonObject;
  readonly modelId: string;
  readonly caseId: string;
};

export type ToolDefinition<Parameters extends ZodSchema | ObjectSchema> = {
  /** What models call it: letters, digits, `_` and `-`. */
  readonly name: string;
  /** What models are told about it. */
  readonly description: string;
  /** Its arguments: a zod object, or the JSON Schema of an object. */
  readonly parameters: Parameters;
  /** Whether doing it twice is doing it once. Default: false. */
  readonly idempotent?: boolean;
  /** Default: 60s. A call that takes longer is ended, and the model is told so. */
  readonly timeout?: Duration;
  /** Executions of a call whose process broke or whose error says `retryable: true`. Default: 3 if idempotent, else 1. */
  readonly maxAttempts?: number;
  /** What happens to a call whose worker was lost. Default: `rerun` if idempotent, else `refuse`. */
  readonly onUnknown?: 'refuse' | 'ask' | 'rerun' | 'skip';
  /**
   * Text, or JSON that the model reads as such; what an async generator yields is collected: texts as one, else a
   * list. What it throws is an observation for the model.
   */
  execute(
    args: ValueOf<Parameters>,
    context: ToolCallContext,
  ): ToolOutput | Promise<ToolOutput> | AsyncIterable<Json>;
};

type ToolOutput = Json | undefined | void;

/** A tool of a run file, as `harness.tools` takes it. */
export type DefinedTool = Defined<'tool'> & { readonly name: string };

/**
 * A tool for the `agent` harness. It runs in a process of the worker's, never in the agent's environment:
 * one call at a time, with a time limit, a memory limit and a minimal environment.
 */
export const defineTool = <const Parameters extends ZodSchema | ObjectSchema>(
  definition: ToolDefinition<Parameters>,
): DefinedTool => mark('tool', definition);
