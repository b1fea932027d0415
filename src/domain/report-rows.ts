import type { AnalysisRow } from './analysis-row.ts';
import type { JsonObject } from './json.ts';
import type { Outcome, RunState } from './outcome.ts';
import type { RankingRule } from './ranking-rule.ts';
import type { Reuse } from './reuse.ts';
import type { Gates } from './run.ts';
import type { Score } from './score.ts';
import type { Price, Usage } from './usage.ts';

/** Everything that a report is made of: plain rows of one run, read from the store or kept live. */
export type ReportRows = {
  readonly run: RunFacts;
  /** In the order of the run file, skipped ones included. */
  readonly models: readonly ReportModel[];
  /** In declaration order. */
  readonly requests: readonly ReportRequest[];
  /** One per planned (task, attempt), in its latest generation, ordered by task and attempt. */
  readonly cells: readonly ReportCell[];
};

export type RunFacts = {
  readonly runId: string;
  readonly name: string;
  readonly state: RunState;
  /** Why the run ended as it did, or what it waits for, or what a completed run left out; null while it runs. */
  readonly reason: string | null;
  /** ISO 8601 in UTC, here and below. */
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** The latest generation, from 1. */
  readonly generation: number;
  readonly seed: number;
  /** Caps in force, null = none; for the sentence of a run that was stopped by its budget. */
  readonly caps: {
    readonly maxRunUsd: number | null;
    readonly maxModelUsd: number | null;
    readonly maxRunTokens: number | null;
  };
  /** How often its answers were graded. */
  readonly scoreVersion: number;
  /** Scorers that graded all cases in the latest version; null = those of the suites and cases. */
  readonly scoredBy: readonly string[] | null;
  /** What was taken from another run; null = nothing was asked for. */
  readonly reuse: Reuse | null;
  /** As declared in the run file. */
  readonly gates: Gates;
  readonly ranking?: RankingRule;
  /** `context` of the run file; absent where it says none. */
  readonly context?: JsonObject;
  /** The models that judge; absent when none does. */
  readonly judges?: readonly { readonly judgeId: string; readonly model: string }[];
  /** Caps passed under `onExceed: warn`, cleanup trouble and the like, one sentence each, in order. */
  readonly warnings: readonly string[];
};

export type ReportModel = {
  readonly modelId: string;
  /** The name that the provider knows. */
  readonly model: string;
  readonly providerId: string;
  readonly price: Price | null;
  /** Why preflight skipped it; null when it runs. */
  readonly skippedReason: string | null;
};

export type ReportRequest = {
  readonly index: number;
  readonly name: string;
  readonly suiteName: string;
  readonly suiteVersion: string | null;
  readonly suiteDigest: string;
  readonly caseCount: number;
  readonly modelIds: readonly string[];
  readonly harness: string;
  readonly environment: string;
  readonly attempts: { readonly k: number; readonly strategy: 'avg' | 'pass' };
  /** Why preparation ended this request, or null. */
  readonly failure: string | null;
};

/** One planned cell. Cells that strategy `pass` took out of the plan are not among the rows. */
export type ReportCell = {
  readonly requestIndex: number;
  readonly requestName: string;
  readonly task: number;
  readonly modelId: string;
  readonly caseId: string;
  /** Index in the task, from 1. */
  readonly attempt: number;
  readonly generation: number;
  /** Null = planned and not recorded. */
  readonly outcome: Outcome | null;
  /** Weight of the case. */
  readonly weight: number;
  readonly cluster: string | null;
  readonly tags: readonly string[];
  readonly scores: readonly Score[];
  /** What analyzers say of the agent's way. */
  readonly analyses: readonly AnalysisRow[];
  /** Sum over every recorded call of the cell: all generations, tries and retries; those of judges apart. */
  readonly usage: Usage;
  /** Sum of the known costs of those calls; null when none of them has one. */
  readonly costUsd: number | null;
  /** Whether every call that used tokens has a cost, so that `costUsd` is the whole cost. */
  readonly priced: boolean;
  /** Sum of the agent's completed calls of the latest try, without waits; null without a call. */
  readonly latencyMs: number | null;
  /** Time spent waiting for slots, pauses and retries; null without a call. */
  readonly waitMs: number | null;
  /** Calls completed with an answer. */
  readonly calls: number;
  /** Requests sent beyond the first of their call: failed, cut off or sent again. */
  readonly retriedCalls: number;
  /** Part of `usage` that bought no recorded answer: failed or cut-off calls, discarded tries, earlier generations. */
  readonly wastedUsage: Usage;
  /** Where its answer was made, when not here; null = here. */
  readonly origin: CellOrigin | null;
  /** At most 200 characters of the final answer; null without one. */
  readonly answerPreview: string | null;
  /** All calls of judges about it; absent when none was asked. */
  readonly judging?: JudgeSums;
};

/** What asking judges took. */
export type JudgeSums = {
  /** Calls completed with a reply. */
  readonly calls: number;
  /** Sum of the known costs; null = none is known. */
  readonly costUsd: number | null;
  /** Whether every call that used tokens has a cost. */
  readonly priced: boolean;
  readonly usage: Usage;
};

/** A cell of another run that gave its answer: what that took was paid there, and counts here as what it costs. */
export type CellOrigin = {
  readonly runId: string;
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  /** Taken although its fingerprint differs. */
  readonly mismatch: boolean;
  readonly costUsd: number | null;
  readonly priced: boolean;
};
