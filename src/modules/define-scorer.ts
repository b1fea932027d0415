import type { JsonObject } from '../domain/json.ts';
import type { TargetValue, TestCase } from '../domain/suite.ts';
import type { Message } from '../domain/transcript.ts';
import { mark, type Defined } from './definition.ts';
import type { Duration } from './define-tool.ts';
import type { ObjectSchema, ValueOf, ZodSchema } from './schema-types.ts';

/** One attempt as a scorer of a run file sees it. */
export type AttemptToScore = {
  /** The agent's final text; empty when it said nothing. */
  readonly answer: string;
  /** The case's target, the first where there are several; null = it has none. */
  readonly target: TargetValue | null;
  readonly targets: readonly TargetValue[];
  readonly case: TestCase;
  /** What was said after the start messages: answers, tool calls, observations. */
  readonly transcript: readonly Message[];
  /** A value of at least this passes. */
  readonly threshold: number;
  readonly modelId: string;
  /** `context` of the run file. */
  readonly context: JsonObject;
  /** Aborts at the scorer's time-out and when the run is cancelled. */
  readonly signal: AbortSignal;
};

/** A value from 0 to 1, or true and false for 1 and 0; null = this attempt cannot be judged. */
export type GivenScore =
  | number
  | boolean
  | null
  | {
      /** From 0 to 1; null = this attempt cannot be judged. */
      readonly value: number | boolean | null;
      readonly explanation?: string;
      /** Figures to keep beside the score: plain JSON. */
      readonly metrics?: JsonObject;
    };

export type ScorerDefinition<Options extends ZodSchema | ObjectSchema> = {
  /** What suites call it. */
  readonly name: string;
  /** Its options as suites give them: a zod object, or the JSON Schema of an object. Default: none. */
  readonly options?: Options;
  /** A case without a target is then a problem before anything starts. Default: false. */
  readonly needsTarget?: boolean;
  /** Default: 60s. A score that takes longer is ended, and the attempt is unscored. */
  readonly timeout?: Duration;
  score(attempt: AttemptToScore, options: ValueOf<Options>): GivenScore | Promise<GivenScore>;
};

/** A scorer of a run file, as `scorers` takes it: by itself, or as `{ kind: it, weight, ...options }`. */
export type DefinedScorer = Defined<'scorer'> & { readonly name: string };

/**
 * A scorer of your own. It runs in a process of the worker's with a time and a memory limit; one that hangs,
 * breaks or gives anything but a value from 0 to 1 leaves that attempt unscored and touches no other.
 */
export const defineScorer = <const Options extends ZodSchema | ObjectSchema = { readonly type: 'object' }>(
  definition: ScorerDefinition<Options>,
): DefinedScorer => mark('scorer', definition);
