import type { ZodType } from 'zod';
import type { EnvironmentSession } from '../environments/environment.ts';
import type { JsonObject } from '../domain/json.ts';
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

export interface Scorer {
  readonly kind: string;
  /** Schema of `options`, defaults included. */
  readonly options: ZodType<JsonObject>;
  /** Whether a case without a target can be judged with these options. */
  needsTarget(options: JsonObject): boolean;
  /**
   * `local`: pure and fast, graded with the record; `session`: needs a session of an environment; `process`: needs the
   * transcript; code of a run file, in a process of its own, and `trajectory`.
   */
  readonly place: 'local' | 'session' | 'process';
  score(input: ScoreInput): Promise<ScorerVerdict>;
}
