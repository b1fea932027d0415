/** Identity of one row: everything recorded about one attempt of one task in one generation. */
export type AttemptKey = {
  readonly runId: string;
  /** Number of the task in the run, from 1, in scheduler order. */
  readonly task: number;
  /** Index of the attempt in its task, from 1. */
  readonly attempt: number;
  /** 1 for the first pass over the plan; each resume or retry adds one. */
  readonly generation: number;
};

/** One planned cell with the names that a person reads. */
export type Cell = AttemptKey & {
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
};

/** Key of one model call row; `requestNumber` is given out by the store. */
export type CallKey = AttemptKey & {
  readonly tryNumber: number;
  /** `agent`, or `judge/<scorer>/<score version>`. */
  readonly purpose: string;
  readonly step: number;
};

/** Key of one ledger row of a tool call; `call` counts from 1 in its step. */
export type ToolCallKey = AttemptKey & {
  readonly tryNumber: number;
  readonly step: number;
  readonly call: number;
};

/** Text form of an attempt key, for logs and idempotency keys. */
export const formatAttemptKey = (key: AttemptKey): string =>
  `${key.runId}/${key.task}/a${key.attempt}/g${key.generation}`;

/** Stable idempotency key handed to a tool: equal for every delivery of the same call. */
export const toIdempotencyKey = (key: ToolCallKey): string =>
  `${formatAttemptKey(key)}/t${key.tryNumber}/s${key.step}/c${key.call}`;
