import type { TripReason } from '../domain/breaker.ts';
import type { FailureClass } from '../domain/failure.ts';
import type { CallKey } from '../domain/ids.ts';
import type { TerminalState } from '../domain/outcome.ts';
import type { AssistantMessage, FinishReason } from '../domain/transcript.ts';
import type { Usage } from '../domain/usage.ts';
import { UNKNOWN_USAGE } from '../domain/usage.ts';
import { prepareBlob, toJsonBlob, type Blob } from './blobs.ts';
import type { Db } from './pool.ts';
import { selectRow } from './pool.ts';
import { escapeText, unescapeText } from './text.ts';

export type CallRequest = {
  readonly key: CallKey;
  readonly modelId: string;
  readonly engineId: string;
  /** Bound on input and output tokens of this request. */
  readonly worstTokens: number;
  /** Bound on its cost; null = the model has no price. */
  readonly worstUsd: number | null;
  /** Failures that are tried again: the one after these is final. */
  readonly maxRetries: number;
  /** Time since the call was first scheduled, for the record of the first request's wait; 0 unless given. */
  readonly waitedMs?: number;
};

export type CallAdmission =
  /**
   * The row is written: send the request. `probe`: it finds out whether its engine is alive, and the other calls
   * wait for what it finds; retries are waited for in place, and its end is told by `noteLife` and its siblings.
   */
  | {
      readonly kind: 'granted';
      readonly requestNumber: number;
      readonly failuresSoFar: number;
      readonly probe: boolean;
    }
  /** Answered before: nobody is called. */
  | ({ readonly kind: 'recorded' } & RecordedCall)
  | {
      readonly kind: 'failed';
      readonly class: FailureClass;
      readonly message: string;
      readonly failures: number;
    }
  /** The run is frozen as this, or a later generation has taken over. */
  | { readonly kind: 'stopped'; readonly reason: TerminalState | 'superseded' }
  /** Does not fit and never will: scope `run` has frozen the run, scope `model` stops that model alone. */
  | {
      readonly kind: 'over_budget';
      readonly scope: 'run' | 'model';
      readonly cap: number;
      readonly needed: number;
      readonly unit: 'usd' | 'tokens';
    }
  /** The breaker of the engine is open until somebody starts or resumes a run. */
  | {
      readonly kind: 'engine_down';
      readonly reason: TripReason;
      readonly message: string;
      /** Requests of this call that were sent before. */
      readonly requests: number;
    }
  /** Ask again after `waitMs`, holding no slot. */
  | {
      readonly kind: 'wait';
      readonly waitMs: number;
      readonly reason: WaitReason;
    };

/**
 * `rate`: the engine's requests or tokens a minute; the start is booked. `probe`: another call finds out whether the
 * engine is alive. `engine_down`: its breaker is open until a time.
 */
export type WaitReason = 'reservation' | 'engine_paused' | 'retry' | 'rate' | 'probe' | 'engine_down';

export type RecordedCall = {
  readonly requestNumber: number;
  readonly answerDigest: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly latencyMs: number;
  readonly notes: readonly string[];
};

/**
 * Decides about one model call and, when it is granted, writes its row before it is sent: one round trip. The
 * only owner of stop, breaker, pause, budget, rate and retry count. A row found `started` is one whose worker was lost: it is
 * charged at its worst case and the next request number is opened. With no cap set no reservation is touched.
 */
export async function beginCall(db: Db, request: CallRequest): Promise<CallAdmission> {
  for (;;) {
    const row = await selectRow<AdmissionRow>(db, {
      name: 'begin-call',
      text: 'select * from begin_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
      values: [
        ...toKeyValues(request.key),
        escapeText(request.modelId),
        request.engineId,
        request.worstTokens,
        request.worstUsd,
        request.maxRetries,
        request.waitedMs ?? 0,
      ],
    });
    // Two deliveries of one call met; the other's row decides.
    if (row.kind !== 'again') return toAdmission(row);
  }
}

export type CallCompletion = {
  readonly key: CallKey;
  readonly requestNumber: number;
  readonly message: AssistantMessage;
  /** Place of the answer in the transcript; null = not part of one, as a judge's. */
  readonly sequence: number | null;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly latencyMs: number;
  readonly notes: readonly string[];
};

/** `late` = the request had been given up: its usage is kept, its answer is not. */
export type SettleAnswer = 'settled' | 'repeated' | 'late';

/**
 * Records the answer of a granted request, its usage and its transcript row, and settles its reservation.
 * What the provider did not say is charged at the worst case. An answer is a sign of life of its engine; `news` =
 * one that others wait for. Safe to repeat.
 */
export async function completeCall(
  db: Db,
  completion: CallCompletion,
): Promise<{ readonly settled: SettleAnswer; readonly news: boolean; readonly answer: Blob }> {
  const answer = toJsonBlob(completion.message);
  const row = await selectRow<{ settled: SettleAnswer; news: boolean }>(db, {
    name: 'complete-call',
    text: `select * from complete_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [
      ...toKeyValues(completion.key),
      completion.requestNumber,
      toUsageValues(completion.usage),
      completion.costUsd,
      completion.latencyMs,
      completion.finishReason,
      answer.digest,
      await prepareBlob(db, answer),
      completion.sequence,
      completion.notes.length === 0 ? null : JSON.stringify(completion.notes),
    ],
  });
  return { ...row, answer };
}

/** What a request that brought no answer has cost. `unknown` = it may have been served: the worst case. */
export type CallSpend =
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly usage: Usage; readonly costUsd: number | null }
  | { readonly kind: 'unknown' };

export type CallFailure = {
  readonly key: CallKey;
  readonly requestNumber: number;
  readonly class: FailureClass;
  readonly message: string;
  readonly spend: CallSpend;
  /** When the next request may start, from now; null = the call has failed for good. */
  readonly retryInMs: number | null;
  readonly latencyMs: number;
};

/** Records that a granted request failed and books its retry. Class `cancelled` uses up no retry. */
export async function failCall(db: Db, failure: CallFailure): Promise<SettleAnswer> {
  const { spend } = failure;
  const row = await selectRow<{ settled: SettleAnswer }>(db, {
    name: 'fail-call',
    text: `select settled from settle_call($1, $2, $3, $4, $5, $6, $7, $8, 'failed', $9, $10, $11, $12, null, null,
      null, $13, $14, $15, $16)`,
    values: [
      ...toKeyValues(failure.key),
      failure.requestNumber,
      spend.kind,
      toUsageValues(spend.kind === 'known' ? spend.usage : UNKNOWN_USAGE),
      spend.kind === 'known' ? spend.costUsd : null,
      failure.latencyMs,
      failure.class,
      escapeText(failure.message),
      failure.retryInMs,
      failure.class !== 'cancelled',
    ],
  });
  return row.settled;
}

const toKeyValues = (key: CallKey): unknown[] => [
  key.runId,
  key.task,
  key.attempt,
  key.generation,
  key.tryNumber,
  escapeText(key.purpose),
  key.step,
];

const toUsageValues = (usage: Usage): (number | null)[] => [
  usage.inputTokens,
  usage.outputTokens,
  usage.reasoningTokens,
  usage.cacheReadTokens,
  usage.cacheWriteTokens,
];

type AdmissionRow = {
  readonly kind: CallAdmission['kind'] | 'again';
  readonly request_number: number;
  readonly failures: number;
  readonly reason: string;
  readonly scope: 'run' | 'model';
  readonly cap: number;
  readonly needed: number;
  readonly unit: 'usd' | 'tokens';
  readonly wait_ms: number;
  readonly answer_digest: string;
  readonly finish_reason: FinishReason;
  readonly notes: string | null;
  readonly cost_usd: number | null;
  readonly latency_ms: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly failure_class: FailureClass;
  readonly failure_message: string;
  readonly probe: boolean;
};

function toAdmission(row: AdmissionRow): CallAdmission {
  switch (row.kind) {
    case 'granted':
      return {
        kind: 'granted',
        requestNumber: row.request_number,
        failuresSoFar: row.failures,
        probe: row.probe,
      };
    case 'recorded':
      return { kind: 'recorded', ...toRecordedCall(row) };
    case 'failed':
      return {
        kind: 'failed',
        class: row.failure_class,
        message: unescapeText(row.failure_message),
        failures: row.failures,
      };
    case 'stopped':
      return { kind: 'stopped', reason: row.reason as TerminalState | 'superseded' };
    case 'over_budget':
      return { kind: 'over_budget', scope: row.scope, cap: row.cap, needed: row.needed, unit: row.unit };
    case 'engine_down':
      return {
        kind: 'engine_down',
        reason: row.reason as TripReason,
        message: unescapeText(row.failure_message),
        requests: row.request_number,
      };
    case 'wait':
      return {
        kind: 'wait',
        waitMs: Math.ceil(row.wait_ms),
        reason: row.reason as WaitReason,
      };
    case 'again':
      throw new Error('A call that met another delivery of itself is asked again, not answered.');
  }
}

const toRecordedCall = (row: AdmissionRow): RecordedCall => ({
  requestNumber: row.request_number,
  answerDigest: row.answer_digest,
  finishReason: row.finish_reason,
  usage: {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
  },
  costUsd: row.cost_usd,
  latencyMs: row.latency_ms,
  notes: row.notes === null ? [] : (JSON.parse(row.notes) as string[]),
});
