import type { ZodType } from 'zod';
import type { EnvironmentSession } from '../environments/environment.ts';
import type { JsonObject } from '../domain/json.ts';
import type { JudgeOpinion } from '../domain/judge.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import type { Target, TestCase } from '../domain/suite.ts';
import type { Message } from '../domain/transcript.ts';

/** What a scorer may look at. Options have passed the scorer's own schema. */
export type ScoreInput = {
  readonly options: JsonObject;
  /** A value of at least this passes. */
  readonly threshold: number;
  readonly testCase: TestCase;
  readonly target: Target | null;
  /** The agent's final text; empty when it said nothing. */
  readonly answer: string;
  /** The session to grade in; null unless the scorer asked for one. */
  readonly session: EnvironmentSession | null;
  /** What scorers with place `process` look at. */
  readonly about?: ScoredAttempt;
  /** What the attempt took; for scorers that say `measures`. */
  readonly measured?: Measured;
  /** What judges said of it; for scorers with place `judge`. */
  readonly opinions?: readonly JudgeOpinion[];
  /** Runs code in a process that can be ended; for scorers with place `process`. */
  readonly runCode?: (code: CodeToRun, input: ScoreInput) => Promise<ScorerVerdict>;
  /** Resolves a blob by its SHA-256, for the scorer's own files. */
  readonly loadBlob: (digest: string) => Promise<Uint8Array>;
  readonly signal: AbortSignal;
};

export type ScoredAttempt = {
  /** The name of the scorer in its suite. */
  readonly scorerName: string;
  readonly modelId: string;
  /** `context` of the run. */
  readonly context: JsonObject;
  /** What was said after the start messages. */
  readonly transcript: readonly Message[];
};

/** The agent's completed model calls of the try that is graded, added up. */
export type Measured = {
  /** Time in calls, without waits; null = no call was made. */
  readonly latencyMs: number | null;
  /** Null = no call was made, or the price of one is unknown. */
  readonly costUsd: number | null;
};

/** A module whose default export judges an attempt, as `score` of `defineScorer` does. */
export type CodeToRun = {
  readonly code: string;
  /** What errors call it: a name with its ending, `.ts` or `.js`. */
  readonly fileName: string;
  readonly timeoutMs: number;
};

export interface Scorer {
  readonly kind: string;
  /** Schema of `options`, defaults included. */
  readonly options: ZodType<JsonObject>;
  /** Whether a case without a target can be judged with these options. */
  needsTarget(options: JsonObject): boolean;
  /**
   * `local`: pure and fast, graded with the record; `session`: needs a session of an environment; `process`: needs the
   * transcript; code of a run file, in a process of its own, and `trajectory`; `judge`: graded with the record, from
   * what models said that were asked before.
   */
  readonly place: 'local' | 'session' | 'process' | 'judge';
  /** What passes where a suite says nothing; 1 unless given. */
  readonly threshold?: number;
  /** Whether it looks at `measured`. */
  readonly measures?: boolean;
  /** Whether its option `file` names a text that is read into `code` when the suite is. */
  readonly readsCode?: boolean;
  /** Whether an attempt of a model without a price cannot be judged. */
  readonly needsPrice?: boolean;
  score(input: ScoreInput): Promise<ScorerVerdict>;
}
