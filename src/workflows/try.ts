import type { Cell } from '../domain/ids.ts';
import type { AgentEnd, Reason } from '../domain/outcome.ts';
import type { AgentProgress, SessionRef, Stop } from '../domain/step.ts';
import type { AttemptLimits } from '../domain/suite.ts';
import type { AttemptInput } from '../domain/workflow-brief.ts';
import type { ToolDesk } from './tool-desk.ts';

/** Which try of which attempt is run. */
export type TryPlace = {
  readonly input: AttemptInput;
  readonly cell: Cell;
  readonly tryNumber: number;
  /** Where a tool call waits for a person; absent where no tool can run. */
  readonly desk?: ToolDesk;
};

/** How the agent's part of a try ended, with what grading needs to know. */
export type TryEnd =
  | {
      readonly kind: 'over';
      readonly end: AgentEnd;
      readonly answerDigest: string | null;
      /** Scores given in the session, as a blob. */
      readonly sessionScoresDigest: string | null;
      /** Why they were not given, though they should have been. */
      readonly gradingFailure?: Reason | null;
    }
  /** The store granted no call; `spent` = calls of this try had been answered before. */
  | ({ readonly kind: 'stopped'; readonly spent: boolean } & Stop)
  /** Nothing of it has begun, and its engine is down until then (milliseconds since 1970). */
  | { readonly kind: 'held'; readonly untilMs: number }
  | { readonly kind: 'continue'; readonly state: AgentState };

/** An agent between two steps, its session open. */
export type AgentState = {
  /** Null where the request has no environment. */
  readonly session: SessionRef | null;
  /** The request's, with the case's own in their place. */
  readonly limits: AttemptLimits;
  readonly progress: AgentProgress;
};
