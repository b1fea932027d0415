import { adviseEngine, findEngineSign, TRIP_WORDS } from '../domain/engine-sign.ts';
import type { TripReason } from '../domain/breaker.ts';
import type { ClassifiedFailure } from '../domain/failure.ts';
import type { CallKey } from '../domain/ids.ts';
import type { Reason } from '../domain/outcome.ts';
import type { RunPlan } from '../domain/plan.ts';
import type { RunAgentResult } from '../domain/step.ts';
import type { Usage } from '../domain/usage.ts';
import { toEngineId } from '../providers/lookup.ts';
import {
  blockCells,
  noteExhausted,
  noteLife,
  releaseProbe,
  toRole,
  tripEngine,
} from '../store/engine-health.ts';
import { MISSING_PROGRAM } from '../domain/command-end.ts';
import { findEngineUse, nameEngine } from './agent-engine.ts';
import type { Dependencies } from './dependencies.ts';

/** A request to an engine whose health its end tells. */
export type WatchedCall = {
  readonly key: CallKey;
  readonly engineId: string;
  /** It finds out whether the engine is alive, and others wait for it. */
  readonly probe: boolean;
};

/** A body that is an error follows its header at once: a header counts when nothing has come for so long. */
const HEADER_COUNTS_MS = 250;
/** A call that is out for so long lives, whatever it waits for (`probeGrace`). */
const PROBE_GRACE_MS = 60_000;

export type ProbeWatch = {
  /** A success has begun to arrive. */
  readonly onAnswering: () => void;
  readonly stop: () => void;
};

/** Lets the others go as soon as a probe shows life, before it has ended. */
export function watchProbe(dependencies: Dependencies, call: WatchedCall): ProbeWatch {
  if (!call.probe) return { onAnswering: () => undefined, stop: () => undefined };
  const timers: NodeJS.Timeout[] = [];
  const countAfter = (delayMs: number): void => {
    timers.push(setTimeout(() => void tellLife(dependencies, call).catch(() => undefined), delayMs).unref());
  };
  countAfter(PROBE_GRACE_MS);
  return { onAnswering: () => countAfter(HEADER_COUNTS_MS), stop: () => timers.forEach(clearTimeout) };
}

export async function tellLife(dependencies: Dependencies, { engineId, key }: WatchedCall): Promise<void> {
  const { runId, purpose } = key;
  const news = await noteLife(dependencies.db, { engineId, role: toRole(purpose) }, { runId });
  if (news) dependencies.onEngine(engineId, 'alive');
}

export type FailedRequest = {
  readonly classified: ClassifiedFailure;
  readonly usage: Usage | null;
  /** The call is not tried again. */
  readonly isFinal: boolean;
  /** It was cut off by a limit of its own attempt: that says nothing about the engine. */
  readonly cutOff: boolean;
};

/** Tells the breaker what a failed request says about its engine. */
export async function tellFailure(
  dependencies: Dependencies,
  call: WatchedCall,
  failed: FailedRequest,
): Promise<void> {
  const { db, holdPace } = dependencies;
  const { engineId, key } = call;
  const engine = { engineId, role: toRole(key.purpose) };
  const { message } = failed.classified;
  const sign = failed.cutOff ? null : findEngineSign(failed);
  switch (sign?.kind) {
    case 'life':
      return await tellLife(dependencies, call);
    case 'trip':
      await tripEngine(db, engine, { ...sign, message });
      return;
    case 'exhausted':
      await noteExhausted(db, engine, { ...holdPace, message, resetMs: sign.resetMs });
      return;
    case undefined:
      if (call.probe && failed.isFinal) await releaseProbe(db, engineId, key);
  }
}

/** Somebody has cut a call off: if it was to find out about its engine, the next one does. */
export async function giveUpProbe(
  { db }: Dependencies,
  { engineId, key, probe }: WatchedCall,
): Promise<void> {
  if (probe) await releaseProbe(db, engineId, key);
}

/** What a failure of an external agent says of its program and account, by the code of its reason. */
const AGENT_TRIPS: { readonly [code: string]: TripReason } = {
  [MISSING_PROGRAM]: 'missing_binary',
  credential: 'credential',
  billing: 'billing',
  no_evidence: 'no_evidence',
};

/** An external agent's program that was started. */
export type WatchedAgent = Pick<WatchedCall, 'key' | 'engineId'> & {
  /** It asked its model through the recording proxy: a refusal of that is the provider's, which has a breaker of its own. */
  readonly hasAsked: boolean;
};

/** Tells the breaker how an external agent ended: one that ran at all shows that its program is there. */
export async function tellAgentEnd(
  dependencies: Dependencies,
  { key, engineId, hasAsked }: WatchedAgent,
  result: RunAgentResult,
): Promise<void> {
  const failed = result.kind === 'over' && result.end.kind === 'failed' ? result.end : null;
  const isOwn = !hasAsked || failed?.reason.code === MISSING_PROGRAM;
  const reason = failed === null || !isOwn ? undefined : AGENT_TRIPS[failed.reason.code];
  if (failed !== null && failed.outcome === 'infra' && reason !== undefined) {
    const { message } = failed.reason;
    await tripEngine(dependencies.db, { engineId, role: 'agent' }, { reason, message, resetMs: null });
  } else if (failed?.outcome === 'infra' || result.kind === 'stopped') {
    await releaseProbe(dependencies.db, engineId, key);
  } else {
    await tellLife(dependencies, { key, engineId, probe: true });
  }
}

export type DownEngine = {
  readonly engineId: string;
  readonly reason: TripReason;
  readonly message: string;
};

/** Why a cell was kept from a run by its engine: names the engine, what it said, what to do, and how to go on. */
export function toEngineReason(plan: RunPlan, { engineId, reason, message }: DownEngine): Reason {
  const provider = plan.spec.providers.find((one) => toEngineId(one) === engineId);
  const advice = adviseEngine(reason, provider?.apiKeyEnv ?? null);
  const what = `engine ${nameEngine(plan, engineId)} is down: ${TRIP_WORDS[reason]} (${message})`;
  return {
    code: 'engine_down',
    phase: 'run',
    message: `${what}; ${advice}, then \`assay resume ${plan.runId}\``,
  };
}

/** Gives the cells of an engine that is down their outcome, those that have not started. Idempotent. */
export async function blockEngine(
  { db }: Pick<Dependencies, 'db'>,
  { plan, generation }: { readonly plan: RunPlan; readonly generation: number },
  down: DownEngine,
): Promise<Reason> {
  const { runId } = plan;
  const reason = toEngineReason(plan, down);
  await blockCells(db, {
    runId,
    generation,
    engineId: down.engineId,
    ...findEngineUse(plan, down.engineId),
    outcome: { kind: 'not_run', reason, limit: null },
  });
  return reason;
}
