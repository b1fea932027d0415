import type { Tally } from '../domain/workflow-brief.ts';

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
};

/** Signal from a worker to a run: variables that it waits for, because no worker has a value; none = it goes on. */
export const KEYS_MISSING = 'keysMissing';
export type KeysMissing = { readonly names: readonly string[] };

/** Signal from a run to a task workflow: places that others left over. */
export const PLACES_GRANTED = 'placesGranted';
export type PlacesGranted = { readonly places: number };
