import type { ApprovalNeed } from './approval.ts';
import type { Json } from './json.ts';
import type { OutcomeKind, Reason, RunState } from './outcome.ts';
import type { Packable } from './pack-tasks.ts';
import type { TaskRef } from './plan.ts';
import type { ReuseRequest } from './reuse.ts';
import type { EvaluationMode, Execution, HarnessSpec } from './run.ts';
import type { AttemptLimits } from './suite.ts';

/** Input of workflow `run`. Give `documentDigest`, or `document` (at most 64 KiB), or `resume`. */
export type RunInput = {
  /** The same id attaches to that run. Without one the workflow's own id names it. */
  readonly runId?: string;
  /** SHA-256 of a document that Assay's client stored. */
  readonly documentDigest?: string;
  /** A run file as JSON; its paths are read by the worker, relative to `baseDir`. */
  readonly document?: Json;
  readonly baseDir?: string;
  /** Takes the scored cells of another run whose fingerprints match, instead of running them. */
  readonly reuse?: ReuseRequest;
  /** Continue a run that ended: these outcomes run again as a new generation. */
  readonly resume?: ResumeRequest;
  /** Grade the stored answers of a run that ended again, as a new generation; nothing is run. */
  readonly score?: ScoreRequest;
  /** Spending above `budgets.confirmAboveUsd` has been confirmed; else the run waits for the update `approve`. */
  readonly approved?: boolean;
  /** Variables for which a worker had a value when the run was started: it waits for them instead of skipping. */
  readonly keys?: readonly string[];
};

/** Neither = the scorers of the run file once more. */
export type ScoreRequest = {
  /** Scorers of every case as run files write them. */
  readonly scorers?: Json;
  /** SHA-256 of checked ones that Assay's client stored. */
  readonly scorersDigest?: string;
};

export type ResumeRequest = {
  readonly outcomes: readonly OutcomeKind[];
  readonly maxRunUsd?: number;
  readonly maxModelUsd?: number;
  readonly maxRunTokens?: number;
};

/** What workflows need to know of a request; everything else stays in the stored plan. */
export type RequestBrief = Packable & {
  readonly index: number;
  readonly name: string;
  readonly harness: HarnessSpec;
  readonly environmentKind: string;
  /** How long each tool may take; absent where no tool is offered. */
  readonly toolTimesMs?: { readonly [tool: string]: number };
  /** Whether a scorer of the suite grades inside a session. */
  readonly sessionScorers: boolean;
  readonly evaluation: EvaluationMode;
  /** Files of the agent are kept before its session closes. */
  readonly collects: boolean;
  /** Whether a scorer of the run file grades in a process of its own. */
  readonly processScorers?: boolean;
  /** Engines of judges, with their queues; absent = none is asked. */
  readonly judges?: readonly { readonly engineId: string; readonly queue: string }[];
  readonly strategy: 'avg' | 'pass';
  readonly k: number;
  /** Tasks with attempts to run; absent = each has all k of them. */
  readonly tasks?: number;
  readonly limits: AttemptLimits;
  readonly retries: { readonly max: number; readonly patterns: readonly string[] | null };
};

/** What workflows need to know of a run. */
export type RunBrief = {
  readonly runId: string;
  readonly generation: number;
  readonly execution: Execution;
  /** Task queue of each model's engine. */
  readonly modelQueues: { readonly [modelId: string]: string };
  /** Milliseconds since 1970, of this generation; the time limit counts from here. */
  readonly startedAtMs: number;
  /** Whether the server knows Assay's search attributes. */
  readonly searchAttributes: boolean;
  /** Which grading of its answers it is; absent = the first. */
  readonly scoreVersion?: number;
};

export type PreparedRun =
  | {
      readonly kind: 'ready';
      readonly run: RunBrief;
      readonly requests: readonly RequestBrief[];
      readonly plannedCells: number;
      readonly summary: string;
      /** Nothing is started before somebody approves; null = nobody has to be asked. */
      readonly approval: ApprovalNeed | null;
      /** Requests that are prepared while earlier ones run, by index; absent = none. */
      readonly unprepared?: readonly number[];
    }
  | { readonly kind: 'over'; readonly result: RunResult }
  /** Another host has to prepare it: what the run needs is there alone. */
  | { readonly kind: 'elsewhere'; readonly hostId: string };

/** What came of the preparation of one request. */
export type PreparedRequest =
  | { readonly kind: 'ready' }
  /** Its cells are recorded as never run. */
  | { readonly kind: 'failed' }
  /** Another host has to prepare it. */
  | { readonly kind: 'elsewhere'; readonly hostId: string };

/** How a run ended, as its workflow returns it. */
export type RunResult = {
  readonly runId: string;
  readonly state: RunState;
  readonly reason: Reason | null;
  readonly planned: number;
  readonly recorded: number;
  readonly outcomes: { readonly [K in OutcomeKind]?: number };
  /** Up to 20 planned cells without a row. */
  readonly missing: readonly string[];
};

/** Input of the workflow `task`: one heavy task or up to 25 light ones. */
export type TaskInput = {
  readonly run: RunBrief;
  readonly request: RequestBrief;
  readonly tasks: readonly TaskRef[];
  readonly places: number;
};

/** Counts by outcome. */
export type Tally = { readonly [K in OutcomeKind]?: number };

/**
 * Models whose engine is down, by request and id: null = its cells are given up, else until when they wait
 * (milliseconds since 1970).
 */
export type StoppedModels = { readonly [key: string]: number | null };

export const toStoppedKey = (requestIndex: number, modelId: string): string => `${requestIndex}/${modelId}`;

/** What a task workflow recorded in all, also what it had reported by signal: a signal may be lost at its end. */
export type TaskResult = {
  readonly tally: Tally;
  readonly passed: number;
  /** The run was found stopped: start nothing more. */
  readonly stopped: boolean;
  /** Models of which nothing more is started now. */
  readonly stoppedModels?: StoppedModels;
  /** Messages of attempts that broke instead of ending, at most five. */
  readonly faults: readonly string[];
};

/** Input of the workflow `attempt`, and of the plain function that a pack runs. */
export type AttemptInput = {
  readonly run: RunBrief;
  readonly request: RequestBrief;
  readonly task: number;
  readonly modelId: string;
  readonly caseId: string;
  readonly attempt: number;
  /** Its answer is known: it is graded, and nothing is run. */
  readonly graded?: true;
};
