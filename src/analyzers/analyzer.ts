import type { ToolStatus } from '../domain/transcript.ts';

/** What is recorded of the way of one agent: of the try that counts, in order. */
export type Trajectory = {
  /** `agent`, `command` ... */
  readonly harness: string;
  readonly toolCalls: readonly ToolCallFact[];
  readonly modelCalls: readonly ModelCallFact[];
};

export type ToolCallFact = {
  readonly step: number;
  readonly tool: string;
  /** Equal arguments, equal digest. */
  readonly argumentsDigest: string;
  /** Null = the attempt ended before there was an observation. */
  readonly status: ToolStatus | null;
  /** Null = nobody knows when it ended. */
  readonly tookMs: number | null;
};

export type ModelCallFact = {
  readonly step: number;
  /** Null = no answer came. */
  readonly latencyMs: number | null;
  /** Waits for slots, pauses and retries. */
  readonly waitedMs: number;
};

export type Analysis = {
  /** One line for people. */
  readonly summary: string;
  /** Counts and times (`...Ms`) by name; over many attempts they are added up. */
  readonly facts: { readonly [name: string]: number };
};

/**
 * Says facts about how an agent worked; never a score. Runs after grading, and what goes wrong in it touches neither
 * the outcome nor its reason.
 */
export interface Analyzer {
  readonly name: string;
  /** Null = the trajectory says nothing about it. May throw. */
  analyze(trajectory: Trajectory): Analysis | null;
}
