import { setTimeout as delay } from 'node:timers/promises';
import type { CallKey } from '../domain/ids.ts';
import type { RunPlan } from '../domain/plan.ts';
import type { WorstCase } from '../domain/worst-case.ts';
import { beginCall, type CallAdmission } from '../store/model-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { blockEngine } from './engine-watch.ts';
import type { ProxyEnd } from './recording-proxy.ts';
import { spreadWait } from './spread-wait.ts';
import { untilWritten } from './until-written.ts';

type ProxiedAsk = {
  readonly key: CallKey;
  readonly modelId: string;
  readonly engineId: string;
  readonly worst: WorstCase;
  /** Aborts when the agent leaves or its attempt ends. */
  readonly signal: AbortSignal;
};

export type ProxiedAdmission =
  /** The row is written, and a slot is taken until `giveBack`. */
  | {
      readonly kind: 'granted';
      readonly requestNumber: number;
      readonly probe: boolean;
      readonly giveBack: () => void;
    }
  | { readonly kind: 'refused'; readonly end: ProxyEnd };

/** Waits, holding no slot, until the store grants a request or says that it grants none any more. */
export async function admitProxied(
  dependencies: Dependencies,
  ask: ProxiedAsk,
  plan: RunPlan,
): Promise<ProxiedAdmission> {
  const started = dependencies.now();
  for (;;) {
    const giveBack = await dependencies.borrowSlot(ask.engineId, ask.signal);
    const admission = await begin(dependencies, ask, dependencies.now() - started).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (admission.kind === 'granted') {
      const { requestNumber, probe } = admission;
      return { kind: 'granted', requestNumber, probe, giveBack };
    }
    giveBack();
    if (admission.kind === 'engine_down') {
      const { reason, message } = admission;
      await blockEngine(dependencies, { plan, ...ask.key }, { engineId: ask.engineId, reason, message });
    }
    if (admission.kind !== 'wait') return { kind: 'refused', end: toEnd(admission, ask.key) };
    await delay(spreadWait(admission, dependencies.random()), undefined, { signal: ask.signal });
  }
}

/** The agent repeats a request in a call of its own, so that one call has no retries. */
function begin(
  { db }: Dependencies,
  { key, modelId, engineId, worst, signal }: ProxiedAsk,
  waitedMs: number,
): Promise<CallAdmission> {
  const call = { key, modelId, engineId, worstTokens: worst.tokens, worstUsd: worst.usd };
  return untilWritten(() => beginCall(db, { ...call, maxRetries: 0, waitedMs }), signal);
}

function toEnd(
  admission: Exclude<CallAdmission, { kind: 'granted' } | { kind: 'wait' }>,
  { step }: CallKey,
): ProxyEnd {
  switch (admission.kind) {
    case 'stopped':
      // Whichever of several requests came first.
      return {
        kind: 'stopped',
        scope: 'run',
        code: admission.reason === 'stopped_budget' ? 'budget' : admission.reason,
      };
    case 'over_budget':
      return { kind: 'stopped', scope: admission.scope, code: 'budget' };
    case 'engine_down':
      return { kind: 'stopped', scope: 'engine', code: admission.reason };
    case 'recorded':
    case 'failed':
      throw new Error(`request ${step} of this try has been made before`);
  }
}
