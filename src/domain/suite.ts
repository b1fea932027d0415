import type { Json, JsonObject } from './json.ts';

/** One item of a suite as agents and harnesses may see it: the target is not part of it. */
export type TestCase = {
  readonly id: string;
  readonly input: CaseInput;
  readonly system: string | null;
  readonly choices: readonly string[] | null;
  readonly tags: readonly string[];
  /** At least 0; 1 unless given. */
  readonly weight: number;
  /** Cases that are not independent of each other share one. */
  readonly cluster: string | null;
  /** Path inside the session's directory -> SHA-256 of the content (a blob). */
  readonly files: { readonly [path: string]: string };
  /** Shell text run in the session before the agent starts. */
  readonly setup: string | null;
  /** The case's own scorers; null = the suite's. */
  readonly scorers: readonly ScorerSpec[] | null;
  readonly limits: AttemptLimits | null;
  readonly metadata: JsonObject;
};

/** Either text, or messages that end with the user's. */
export type CaseInput =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'messages';
      readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }[];
    };

/** The hidden answer, a type of its own that only scorers resolve. A list = any of them. */
export type Target = { readonly values: readonly TargetValue[] };
export type TargetValue = string | number | boolean | JsonObject;

/** A case together with its secret: lives in `config` and `store` only. */
export type SuiteCase = { readonly testCase: TestCase; readonly target: Target | null };

export type Suite = {
  readonly name: string;
  readonly version: string | null;
  readonly scorers: readonly ScorerSpec[];
  readonly cases: readonly SuiteCase[];
};

/** One scorer as declared. `options` are checked by `config` against the scorer's own schema. */
export type ScorerSpec = {
  /** One of the built-in scorers, or a scorer of the run file. */
  readonly kind: string;
  /** Unique among the scorers of a case; the kind unless given, of a turned one `not-` and the kind. */
  readonly name: string;
  /** At least 0; 1 unless given. */
  readonly weight: number;
  /** A value of at least this passes; 1 unless given. */
  readonly threshold: number;
  readonly required: boolean;
  /** Turned: passes when the scorer itself would not. Absent = as it is. */
  readonly not?: boolean;
  readonly options: JsonObject;
};

/** Caps of one attempt; null = none. */
export type AttemptLimits = {
  readonly attemptTimeMs: number | null;
  readonly attemptTokens: number | null;
  readonly attemptCostUsd: number | null;
  readonly modelCallTimeMs: number | null;
};

/** The request's limits, with those that the case sets itself in their place. */
export const mergeLimits = (request: AttemptLimits, own: AttemptLimits | null): AttemptLimits => ({
  attemptTimeMs: own?.attemptTimeMs ?? request.attemptTimeMs,
  attemptTokens: own?.attemptTokens ?? request.attemptTokens,
  attemptCostUsd: own?.attemptCostUsd ?? request.attemptCostUsd,
  modelCallTimeMs: own?.modelCallTimeMs ?? request.modelCallTimeMs,
});

/** Values that a scorer compares as text: numbers and booleans as JSON writes them. */
export const toTargetText = (value: TargetValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value as Json);
