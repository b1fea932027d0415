import type pg from 'pg';
import type { AdmissionAnswer, AdmissionEvent, AdmissionState } from '../../src/domain/admission-state.ts';
import type { CallKey } from '../../src/domain/ids.ts';
import { UNKNOWN_USAGE } from '../../src/domain/usage.ts';
import { noteExhausted, noteLife, releaseProbe, tripEngine } from '../../src/store/engine-health.ts';
import { pauseEngine } from '../../src/store/engines.ts';
import { beginCall, completeCall, failCall } from '../../src/store/model-calls.ts';
import { freezeRun } from '../../src/store/runs.ts';
import { attemptKey, callKey, recordOne } from './support.ts';

const keyOf = (runId: string, name: string): CallKey => callKey(attemptKey(runId, Number(name)));

/** Does to Postgres what the event says and puts the answer in the model's form. */
export async function applyEvent(
  pool: pg.Pool,
  runId: string,
  event: AdmissionEvent,
): Promise<AdmissionAnswer> {
  switch (event.kind) {
    case 'begin':
      return begin(pool, runId, event);
    case 'complete':
    case 'fail':
      return settle(pool, runId, event);
    case 'close':
      for (const name of event.calls) await close(pool, runId, name);
      return { kind: 'done' };
    case 'freeze':
      await freezeRun(pool, { runId, state: event.state, reason: 'asked' });
      return { kind: 'done' };
    case 'pause':
      await pauseEngine(pool, { engineId: runId, pauseMs: event.untilMs, reason: 'asked' });
      return { kind: 'done' };
    case 'life':
      await noteLife(pool, { engineId: runId, role: 'agent' }, { runId });
      return { kind: 'done' };
    case 'trip':
      await tripEngine(pool, { engineId: runId, role: 'agent' }, { ...event, message: 'asked' });
      return { kind: 'done' };
    case 'exhausted':
      await noteExhausted(pool, { engineId: runId, role: 'agent' }, { ...event, message: 'asked' });
      return { kind: 'done' };
    case 'release':
      await releaseProbe(pool, runId, keyOf(runId, event.call));
      return { kind: 'done' };
  }
}

async function begin(
  pool: pg.Pool,
  runId: string,
  event: Extract<AdmissionEvent, { kind: 'begin' }>,
): Promise<AdmissionAnswer> {
  const answer = await beginCall(pool, {
    key: keyOf(runId, event.call),
    modelId: event.modelId,
    engineId: runId,
    worstTokens: event.worst.tokens,
    worstUsd: event.worst.usd,
    maxRetries: event.maxRetries,
  });
  if (answer.kind === 'recorded') return { kind: 'recorded', requestNumber: answer.requestNumber };
  if (answer.kind === 'failed') return { kind: 'failed', failures: answer.failures };
  if (answer.kind === 'engine_down') return { kind: 'engine_down', reason: answer.reason };
  if (answer.kind === 'wait') return { kind: 'wait', reason: answer.reason };
  return answer as AdmissionAnswer;
}

async function settle(
  pool: pg.Pool,
  runId: string,
  event: Extract<AdmissionEvent, { kind: 'complete' | 'fail' }>,
): Promise<AdmissionAnswer> {
  const base = { key: keyOf(runId, event.call), requestNumber: event.requestNumber, latencyMs: 1 };
  const known = event.spend.kind === 'known' ? event.spend : { usd: null, tokens: null };
  const usage = { ...UNKNOWN_USAGE, inputTokens: known.tokens };
  try {
    if (event.kind === 'fail') {
      const spent =
        event.spend.kind === 'known' ? { kind: 'known' as const, usage, costUsd: known.usd } : event.spend;
      const ended = {
        ...base,
        class: 'server',
        message: '',
        spend: spent,
        retryInMs: event.retryAtMs,
      } as const;
      return { kind: await failCall(pool, ended) };
    }
    const message = { role: 'assistant', text: '', reasoning: null, toolCalls: [] } as const;
    const answer = { ...base, message, sequence: null, finishReason: 'stop', notes: [] } as const;
    return { kind: (await completeCall(pool, { ...answer, usage, costUsd: known.usd })).settled };
  } catch (error) {
    if (String(error).includes('was never begun')) return { kind: 'unknown_request' };
    throw error;
  }
}

const close = (pool: pg.Pool, runId: string, name: string) =>
  recordOne(pool, {
    key: attemptKey(runId, Number(name)),
    tryNumber: 1,
    outcome: { kind: 'scored', score: 1, pass: true, limit: null },
    scores: [],
    answerDigest: null,
    answerPreview: null,
  });

export async function loadScopes(pool: pg.Pool, runId: string): Promise<AdmissionState['scopes']> {
  const { rows } = await pool.query(
    `select scope, cap_usd as "capUsd", cap_tokens as "capTokens", spent_usd as "spentUsd",
      spent_tokens as "spentTokens", reserved_usd as "reservedUsd", reserved_tokens as "reservedTokens",
      open_calls as "openCalls", exceeded_at is not null as exceeded, stop_reason is not null as stopped
     from reservations where run_id = $1`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ scope, ...rest }) => [scope, rest]));
}
