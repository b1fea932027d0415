import type { Cell } from './ids.ts';
import type { AgentEnd, OutcomeKind, Phase, Reason, TerminalState } from './outcome.ts';
import type { TryScope } from './retry-scope.ts';
import type { AttemptLimits } from './suite.ts';
import type { AskedCall, ToolResolution } from './tool-ledger.ts';
import type { FinishReason, ToolStatus } from './transcript.ts';
import type { Usage } from './usage.ts';

/**
 * What workflows and activities say to each other about one attempt: references, usage and short
 * previews; never a text of unknown size.
 */

/** An open session as workflows carry it. */
export type SessionRef = {
  readonly sessionId: string;
  readonly kind: string;
  readonly hostId: string;
  readonly root: string;
};

export type CallModelInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly step: number;
  /** Transcript rows up to this sequence are what the model reads; 0 = the start messages. */
  readonly upToSequence: number;
  /** What is left of the attempt's measured time; null = all of it. */
  readonly timeLeftMs: number | null;
};

/** A tool call of an answer, without its arguments: those are read from the transcript. */
export type ToolCallRef = { readonly name: string; readonly preview: string };

export type Spent = {
  /** Input and output tokens; null = the provider does not say. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** Measured time of the step, without waits for slots or delays. */
  readonly measuredMs: number;
};

export type CallModelResult =
  | {
      readonly kind: 'answered';
      readonly answerDigest: string;
      readonly finishReason: FinishReason;
      readonly outputTokens: number | null;
      /** The cap on output that was sent; null = none. */
      readonly outputLimit: number | null;
      readonly toolCalls: readonly ToolCallRef[];
      readonly preview: string;
      /** Sequence of the answer in the transcript. */
      readonly sequence: number;
      readonly spent: Spent;
    }
  | { readonly kind: 'ended'; readonly end: AgentEnd; readonly spent: Spent }
  /** The store granted no call: the run, the model or the engine has been stopped. */
  | ({ readonly kind: 'stopped' } & Stop)
  /** The engine is down for a time, and nothing of this attempt has begun: others go on meanwhile. */
  | { readonly kind: 'held'; readonly waitMs: number };

/** Why the store grants no call. */
export type Stop = {
  readonly scope: StopScope;
  readonly code: string;
  /** What is wrong with the engine, and what to do. */
  readonly message?: string;
};

/** What takes no more calls. */
export type StopScope = 'run' | 'model' | 'engine';

export type OpenSessionInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly sessionId: string;
};

export type OpenSessionResult =
  | {
      readonly kind: 'opened';
      /** Null where the request has no environment. */
      readonly session: SessionRef | null;
      /** The request's, with the case's own in their place. */
      readonly limits: AttemptLimits;
    }
  | { readonly kind: 'failed'; readonly end: AgentEnd };

export type RunToolInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly step: number;
  /** Position in its answer, from 1. */
  readonly call: number;
  /** The answer that asked for it. */
  readonly answerDigest: string;
  /** Sequence that the observation gets. */
  readonly sequence: number;
  /** Null where the request has no environment. */
  readonly session: SessionRef | null;
  readonly timeLeftMs: number | null;
  /** What a person said of this call, which had been asked about; absent before. */
  readonly resolution?: ToolResolution;
};

export type RunToolResult =
  | {
      readonly kind: 'observed';
      readonly status: ToolStatus;
      readonly preview: string;
      readonly measuredMs: number;
    }
  /** The agent handed in its answer: a blob of an assistant message. */
  | { readonly kind: 'submitted'; readonly answerDigest: string; readonly measuredMs: number }
  /** Nobody knows how the call ended, and its tool says that a person is asked. */
  | { readonly kind: 'asked'; readonly asked: AskedCall }
  | { readonly kind: 'ended'; readonly end: AgentEnd };

export type RunAgentInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly session: SessionRef;
};

export type RunAgentResult =
  | {
      readonly kind: 'over';
      readonly end: AgentEnd;
      /** A blob of an assistant message; null = it has none. */
      readonly answerDigest: string | null;
      readonly spent: Spent;
    }
  /** The store granted no start, or no further call of its model. */
  | ({ readonly kind: 'stopped'; readonly spent: boolean } & Stop)
  /** Its engine is down for so long, and it has not been started. */
  | { readonly kind: 'held'; readonly waitMs: number };

/** What is recorded of one external agent. */
export type CommandRun = {
  readonly result: RunAgentResult;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** Where its usage was read: the proxy, its own words, or nowhere. */
  readonly usageFrom: 'proxy' | 'agent' | null;
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** It asked its model through the recording proxy. */
  readonly hasAsked: boolean;
  /** All that it printed, stdout and stderr in order of arrival, as a blob; null = nothing. */
  readonly outputDigest: string | null;
  readonly outputBytes: number;
  /** Of those, not kept. */
  readonly cutBytes: number;
  /** The end of it, at most 4,000 characters. */
  readonly tail: string;
};

/** A last look at the files of a session. */
export type CollectInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly session: SessionRef;
};

export type CollectResult =
  | {
      readonly kind: 'collected';
      readonly files: number;
      /** What was over the limits and is not kept, or null. */
      readonly left: string | null;
    }
  /** Something kept the files from being read; those that were read before it are kept. */
  | { readonly kind: 'failed'; readonly reason: Reason };

export type EvaluateInput = {
  readonly cell: Cell;
  /** The try whose agent is graded. */
  readonly tryNumber: number;
  /** The session to grade in; null with evaluation `fresh`, which opens one of its own. */
  readonly session: SessionRef | null;
  /** Name of that one. */
  readonly evaluationId: string;
  readonly answerDigest: string | null;
  /** The answer is that of the cell's origin: read from the store, with all that is known of it. */
  readonly stored?: true;
};

export type EvaluateResult =
  /** Blob of the scorers' scores (`Score[]` as JSON). */
  | { readonly kind: 'graded'; readonly scoresDigest: string }
  /** Something kept them from a verdict. */
  | { readonly kind: 'failed'; readonly reason: Reason };

/** A host that did not take up a step in time. */
export type FindHostInput = {
  readonly hostId: string;
  readonly session: SessionRef;
  /** The tool call that waits; null = it is another step. */
  readonly step: RunToolInput | null;
  /** The external agent that waits; absent for another step. */
  readonly agent?: RunAgentInput;
};

export type FindHostResult =
  /** Its worker lives: send the step again. */
  { readonly kind: 'there' } | { readonly kind: 'lost'; readonly end: AgentEnd };

export type WarningInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly phase: Phase;
  readonly message: string;
};

export type CloseSessionInput = { readonly session: SessionRef };

export type RecordTryInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly reason: Reason;
  readonly scope: TryScope;
  readonly pattern: string | null;
};

/** Whether a model has answered in this attempt, or may have. */
export type RecordTryResult = { readonly spent: boolean };

export type RecordInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly end: AgentEnd;
  readonly answerDigest: string | null;
  /** Scores given in a session, as a blob; null when no session scorer ran. */
  readonly sessionScoresDigest: string | null;
  /** Why a session gave none, where it should have; absent when it did. */
  readonly gradingFailure?: Reason | null;
  /** Scores given in a process of the run file; absent when it has no scorer. */
  readonly processScoresDigest?: string | null;
  /** What judges said, a blob for each engine; absent when none was asked. */
  readonly opinionsDigests?: readonly string[];
  /** The answer is that of the cell's origin: read from the store, with all that is known of it. */
  readonly stored?: true;
};

export type RecordAllInput = { readonly records: readonly RecordInput[] };

/** One result for each record, in order; a fault = that one is not in the plan, the others are recorded. */
export type RecordAllResult = { readonly results: readonly (RecordResult | { readonly fault: string })[] };

export type RecordResult = {
  readonly outcome: OutcomeKind;
  readonly pass: boolean;
  /** Terminal state that the run was frozen in, by this row (fail-fast) or before. */
  readonly frozen: TerminalState | null;
};

/** What one attempt tells its task. */
export type AttemptResult = {
  /** Null = nothing was recorded: it was stopped or cut off, or it comes back; the run settles the cell at its end. */
  readonly outcome: OutcomeKind | null;
  readonly pass: boolean;
  readonly stopped: StopScope | null;
  /** Its engine is down until then (milliseconds since 1970), and the cell is started once more. */
  readonly heldUntilMs?: number;
};

/** Where an agent loop stands between two steps; plain state for continue-as-new. */
export type AgentProgress = {
  readonly step: number;
  readonly sequence: number;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly measuredMs: number;
  readonly answerDigest: string | null;
};
