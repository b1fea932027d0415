import type { ModelSpec, ProviderSpec, RequestSpec, RunSpec } from './run.ts';
import type { AttemptLimits, ScorerSpec } from './suite.ts';

/** What the store keeps of a prepared run and what every activity reads: no secret, no target. */
export type RunPlan = {
  readonly format: 1;
  readonly runId: string;
  readonly spec: RunSpec;
  readonly requests: readonly RequestPlan[];
  readonly skippedModels: readonly SkippedModel[];
  readonly estimate: Estimate;
};

export type SkippedModel = { readonly modelId: string; readonly reason: string };

/** Worst-case and expected spend before anything is sent; money is null where a price is unknown. */
export type Estimate = {
  readonly cells: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly unpricedModels: readonly string[];
  /** The share of each model, in the order of the run file. */
  readonly models: readonly ModelEstimate[];
};

export type ModelEstimate = {
  readonly modelId: string;
  readonly cells: number;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
};

export type RequestPlan = {
  readonly index: number;
  readonly spec: RequestSpec;
  readonly suiteName: string;
  readonly suiteVersion: string | null;
  /** SHA-256 over the suite's cases in order, targets included. */
  readonly suiteDigest: string;
  readonly caseCount: number;
  /** The suite's scorers; a case may have its own. */
  readonly scorers: readonly ScorerSpec[];
  /** Whether a scorer of the suite or of a case grades inside a session. */
  readonly sessionScorers: boolean;
  /** Whether a scorer of the run file grades in a process of its own; absent = none does. */
  readonly processScorers?: boolean;
  /** Engines of the judges that its scorers ask; absent = none does. */
  readonly judgeEngines?: readonly string[];
  /** No environment, harness `direct`, no scorer that opens a session. */
  readonly light: boolean;
  /** A reason in preparation that made this request terminal, or null. */
  readonly failure: string | null;
  /** Its image has no exact name yet: it is prepared while earlier requests run. Absent = it is prepared. */
  readonly unprepared?: true;
};

/**
 * What one attempt is made of, its case excepted, which its row names: so that attempts of many cases share one plan.
 * Its tries are made of the same.
 */
export type AttemptPlan = {
  readonly format: 1;
  readonly model: ModelSpec;
  readonly provider: ProviderSpec;
  readonly request: Omit<RequestSpec, 'modelIds' | 'suiteKey' | 'limits'>;
  readonly suite: Pick<RequestPlan, 'suiteName' | 'suiteVersion' | 'suiteDigest'>;
  /** The request's, with the case's own in their place. */
  readonly limits: AttemptLimits;
  /** The case's own, else the suite's. */
  readonly scorers: readonly ScorerSpec[];
};

/** One task as workflows carry it. */
export type TaskRef = {
  readonly task: number;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
  /** Attempt indices to run in this generation, ascending. */
  readonly attempts: readonly number[];
  /** Of them, those whose answer is known: they are graded, and nothing is run. Absent = none. */
  readonly graded?: readonly number[];
};
