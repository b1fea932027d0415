import type { OnUnknown, ToolPolicy } from './tool-policy.ts';

/** What a person says of a call whose outcome nobody knows. */
export const RESOLUTION_CHOICES = ['done', 'rerun', 'skip'] as const;
export type ResolutionChoice = (typeof RESOLUTION_CHOICES)[number];

/** What became of a call that was asked about; it is about the executions that there were at that time. */
export type ToolResolution = {
  readonly choice: ResolutionChoice | 'expired';
  readonly executions: number;
  /** What the call gave, as the person knows it; with `done` alone. */
  readonly output?: string;
  readonly by: string | null;
};

/** Names one row of the ledger inside its attempt. */
export type AskedCall = {
  readonly tryNumber: number;
  readonly step: number;
  readonly call: number;
  readonly tool: string;
  readonly preview: string;
  readonly executions: number;
};

/** What the ledger says when a call is to be made. Without a row it has never been started, which is safe. */
export type LedgerState =
  /** The row `started` was written now. */
  | { readonly kind: 'fresh' }
  | { readonly kind: 'completed' }
  | { readonly kind: 'started'; readonly executions: number };

export type LedgerDecision =
  | 'run'
  /** Once more, counted in the row first. */
  | 'run_again'
  /** The stored output is the answer; the tool is not called. */
  | 'replay'
  | 'refuse'
  | 'ask'
  /** The model is told that nobody knows. */
  | 'skip'
  /** A person knows that the call took effect. */
  | 'accept';

/**
 * What follows from a row, the tool's policy, and what a person has said of the row: the table of docs/tools.md.
 * A resolution holds for the executions that it was about: a worker that is lost again is asked about again.
 */
export function decideToolCall(
  state: LedgerState,
  policy: Pick<ToolPolicy, 'idempotent' | 'onUnknown'>,
  resolution: Pick<ToolResolution, 'choice' | 'executions'> | null = null,
): LedgerDecision {
  switch (state.kind) {
    case 'fresh':
      return 'run';
    case 'completed':
      return 'replay';
    case 'started':
      if (policy.idempotent) return 'run_again';
      return decideUnknown(policy.onUnknown, resolution?.executions === state.executions ? resolution : null);
  }
}

function decideUnknown(
  onUnknown: OnUnknown,
  resolution: Pick<ToolResolution, 'choice'> | null,
): LedgerDecision {
  switch (onUnknown) {
    case 'rerun':
      return 'run_again';
    case 'skip':
    case 'refuse':
      return onUnknown;
    case 'ask':
      return resolution === null ? 'ask' : BY_CHOICE[resolution.choice];
  }
}

const BY_CHOICE: { readonly [K in ToolResolution['choice']]: LedgerDecision } = {
  done: 'accept',
  rerun: 'run_again',
  skip: 'skip',
  expired: 'refuse',
};
