import type { LimitChange } from '../domain/limit-change.ts';
import type { RunState } from '../domain/outcome.ts';
import type { ResolutionChoice } from '../domain/tool-ledger.ts';
import type { StoppedModels, Tally } from '../domain/workflow-brief.ts';

/**
 * Public names of Assay's workflows and messages, usable from any Temporal SDK. Inputs are one JSON object.
 */
export const WORKFLOW_QUEUE = 'assay';
export const RUN_WORKFLOW = 'run';

/**
 * How long a worker may take over one workflow task. A worker that died holds its workflows up for this long,
 * so it is half of Temporal's default.
 */
export const WORKFLOW_TASK_TIMEOUT = '5s';

export type { ResumeRequest, RunInput } from '../domain/workflow-brief.ts';

/**
 * Messages to a run. Each is an update (it answers, and refuses what cannot be) and a signal of the same name
 * (it does the same, and what cannot be is ignored). `set` takes LimitChanges, the others a Sender or nothing.
 */
export const RUN_MESSAGES = ['approve', 'reject', 'pause', 'unpause', 'set'] as const;
export type RunMessage = (typeof RUN_MESSAGES)[number];

/** What an update answers. */
export type Steered = {
  readonly runId: string;
  readonly state: RunState;
  /** False = it was so before. */
  readonly changed: boolean;
  /** One sentence for people. */
  readonly message: string;
  readonly changes: readonly LimitChange[];
};

/** Query: where a run stands as its workflow knows it. Task workflows report in batches; the store knows more. */
export const RUN_PROGRESS = 'progress';
export type WorkflowProgress = {
  readonly runId: string;
  readonly state: RunState;
  readonly planned: number;
  readonly recorded: number;
  readonly passed: number;
  readonly outcomes: Tally;
  readonly openWorkflows: number;
  readonly taskConcurrency: number;
  /** ISO 8601; null while paused, and without a time limit. */
  readonly deadlineAt: string | null;
  readonly requests: readonly RequestProgress[];
};

/**
 * Where a request stands: `waiting` to be prepared, `failed` in that, `running` = it has tasks to start or open,
 * `done` = it has none, `final` = its end is recorded.
 */
export type RequestProgress = {
  readonly name: string;
  readonly state: 'waiting' | 'failed' | 'running' | 'done' | 'final';
};

/** Signal from a task workflow to its run: places that it no longer needs. */
export const PLACES_FREED = 'placesFreed';
export type PlacesFreed = {
  readonly workflowId: string;
  readonly places: number;
  /** All that was recorded so far, so that a report that is lost hides nothing. */
  readonly tally: Tally;
  readonly passed: number;
  /** The run was found stopped. */
  readonly stopped: boolean;
  /** Models whose engine was found down; absent = none. */
  readonly stoppedModels?: StoppedModels;
};

/** Signal from a worker to a run: variables that it waits for, because no worker has a value; none = it goes on. */
export const KEYS_MISSING = 'keysMissing';
export type KeysMissing = { readonly names: readonly string[] };

/** Signal from a run to its task workflows, and from them to their attempts: what has changed. */
export const RUN_CHANGED = 'runChanged';
export type RunChanged = {
  /** Places that others left over; below zero = taken back as attempts end. */
  readonly places: number;
  /** Nothing is started: no attempt, no try. */
  readonly paused: boolean;
  /** Nothing is started any more. */
  readonly stopped: boolean;
};

/** Update and signal to an attempt: what became of a tool call that somebody is asked about. */
export const RESOLVE_TOOL_CALL = 'resolveToolCall';
/** Why it is refused while nobody is asked. */
export const NOTHING_WAITS = 'no tool call of this attempt waits for a decision';
export type ResolvedToolCall = {
  readonly choice: ResolutionChoice;
  readonly step: number;
  readonly call: number;
  readonly tool: string;
};
