import { describePause, type LimitChanges } from '../domain/run-control.ts';
import type { LimitChange } from '../domain/limit-change.ts';
import type { Decision } from '../domain/approval.ts';
import { toEngineId } from '../providers/lookup.ts';
import { changeLimits, LimitRefused, saveChange, type ChangeOrigin } from '../store/limit-changes.ts';
import { loadPlan } from '../store/plans.ts';
import { setRunState } from '../store/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';

export type NewLimits = {
  readonly origin: ChangeOrigin;
  readonly changes: LimitChanges;
  /** Of the limits that the run's workflow holds, what would change. */
  readonly given: readonly LimitChange[];
};

/** What a run keeps of the messages that steer it. All idempotent, by the key of the message. */
export const createRunControl = (dependencies: Dependencies) => ({
  /** Keeps who approved or rejected a run; an approved one is running from here on. */
  decideRun: (decided: { readonly origin: ChangeOrigin; readonly decision: Decision }): Promise<void> =>
    withHeartbeat(() => decide(dependencies, decided)),

  /** Keeps that a run is paused, or goes on. */
  pauseRun: (pausing: { readonly origin: ChangeOrigin; readonly paused: boolean }): Promise<void> =>
    withHeartbeat(() => pause(dependencies, pausing)),

  /** Changes limits, all or none; a refusal is fatal and names the limit. */
  changeLimits: (wanted: NewLimits): Promise<{ readonly changes: readonly LimitChange[] }> =>
    withHeartbeat(() => change(dependencies, wanted)),
});

async function decide(
  { db }: Dependencies,
  { origin, decision }: { readonly origin: ChangeOrigin; readonly decision: Decision },
): Promise<void> {
  await saveChange(db, origin, { limit: 'approval', from: 'awaited', to: decision.kind });
  if (decision.kind === 'approved') await setRunState(db, { runId: origin.runId, state: 'running' });
}

async function pause(
  { db }: Dependencies,
  { origin, paused }: { readonly origin: ChangeOrigin; readonly paused: boolean },
): Promise<void> {
  const [from, to] = paused ? (['running', 'paused'] as const) : (['paused', 'running'] as const);
  const changed = await setRunState(db, {
    runId: origin.runId,
    state: to,
    note: paused ? describePause(origin) : null,
  });
  if (changed) await saveChange(db, origin, { limit: 'state', from, to });
}

async function change(
  dependencies: Dependencies,
  { origin, changes, given }: NewLimits,
): Promise<{ readonly changes: readonly LimitChange[] }> {
  const { db } = dependencies;
  const { maxRunUsd, maxModelUsd, maxRunTokens } = changes;
  const caps = Object.entries({ maxRunUsd, maxModelUsd, maxRunTokens }).filter(
    (entry): entry is [string, number] => entry[1] !== undefined,
  );
  const slots = await toSlots(dependencies, origin.runId, changes.slots ?? {});
  try {
    const { sessions = {} } = changes;
    const wanted = { origin, caps: Object.fromEntries(caps), slots, sessions, given };
    return { changes: await changeLimits(db, wanted) };
  } catch (error) {
    throw error instanceof LimitRefused ? fatal('Refused', error.message, error) : error;
  }
}

/** Slots are named by a provider of the run file, or by the engine behind it. */
async function toSlots(
  { db }: Dependencies,
  runId: string,
  slots: Exclude<LimitChanges['slots'], undefined>,
) {
  const names = Object.entries(slots);
  if (names.length === 0) return [];
  const { providers } = (await loadPlan(db, runId)).spec;
  return names.map(([name, concurrency]) => {
    const provider = providers.find((one) => one.id === name || toEngineId(one) === name);
    if (provider === undefined) {
      const known = providers.map((one) => one.id).join(', ');
      throw fatal('Refused', `slots.${name}: the run has no provider "${name}"; it has ${known}`);
    }
    return { limit: `slots.${provider.id}`, engineId: toEngineId(provider), concurrency };
  });
}
