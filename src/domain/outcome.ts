/** The tagged end of an attempt. Never a number standing for an error. */
export type OutcomeKind =
  | 'scored'
  | 'unscored'
  | 'error'
  | 'infra'
  | 'interrupted'
  | 'refused'
  | 'skipped'
  | 'not_run';

export const OUTCOME_KINDS: readonly OutcomeKind[] = [
  'scored',
  'unscored',
  'error',
  'infra',
  'interrupted',
  'refused',
  'skipped',
  'not_run',
];

/** Where in an attempt something ended. */
export type Phase = 'open' | 'prepare' | 'start' | 'run' | 'collect' | 'evaluate' | 'record' | 'cleanup';

/** Why an attempt ended as anything but `scored`. The message says what to do. */
export type Reason = {
  /** Stable word for programs, such as `credential`, `budget`, `time_out`, `scorer_failed`. */
  readonly code: string;
  readonly phase: Phase;
  readonly message: string;
};

/** A cap of one attempt that ended the agent early; the attempt is still graded. */
export type Limit = {
  readonly kind: 'steps' | 'time' | 'tokens' | 'cost' | 'context' | 'output';
  readonly limit: number | null;
  readonly measured: number | null;
};

export type Outcome =
  | { readonly kind: 'scored'; readonly score: number; readonly pass: boolean; readonly limit: Limit | null }
  | {
      readonly kind: Exclude<OutcomeKind, 'scored'>;
      readonly reason: Reason;
      readonly limit: Limit | null;
    };

/** How the agent's part of an attempt ended, before grading. */
export type AgentEnd =
  | { readonly kind: 'ended'; readonly limit: Limit | null }
  | {
      readonly kind: 'failed';
      readonly outcome: 'error' | 'infra' | 'interrupted' | 'refused' | 'not_run';
      readonly reason: Reason;
    };

export type RunState =
  | 'preparing'
  | 'awaiting_approval'
  | 'running'
  | 'paused'
  | 'finalizing'
  | 'completed'
  | 'stopped_budget'
  | 'cancelled'
  | 'timed_out'
  | 'aborted'
  | 'failed';

export type TerminalState = Extract<
  RunState,
  'completed' | 'stopped_budget' | 'cancelled' | 'timed_out' | 'aborted' | 'failed'
>;

export const isTerminal = (state: RunState): state is TerminalState =>
  state === 'completed' ||
  state === 'stopped_budget' ||
  state === 'cancelled' ||
  state === 'timed_out' ||
  state === 'aborted' ||
  state === 'failed';
