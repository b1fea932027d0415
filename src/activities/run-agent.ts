import type { CommandHarness } from '../domain/command-harness.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import type { CommandRun, RunAgentInput, RunAgentResult } from '../domain/step.ts';
import { SessionLostError } from '../environments/environment.ts';
import { endCommandRun, findCommandRun, startCommandRun } from '../store/command-runs.ts';
import { beginCall } from '../store/model-calls.ts';
import { executeAgent, type AgentRun } from './agent-execution.ts';
import { toAgentEngineId } from './agent-engine.ts';
import { toAgentCallKey } from './conclude-agent.ts';
import type { Dependencies } from './dependencies.ts';
import { blockEngine, giveUpProbe, tellAgentEnd, watchProbe, type WatchedCall } from './engine-watch.ts';
import { attach, environmentLost } from './execute-tool.ts';
import { checkPayload, comeBack } from './failure.ts';
import { untilCancelled } from './heartbeat.ts';
import { joinDeliveries } from './join-deliveries.ts';
import { mayGiveWay } from './may-give-way.ts';
import { openRecordingProxy, ProxyUnreachableError, type RecordingProxy } from './recording-proxy.ts';
import type { CellPlace } from './run-reader.ts';
import { waitForKeys } from './wait-for-key.ts';

/**
 * Activity `runAgent`: an external agent from its start to its recorded end, write-ahead. A delivery that finds the row
 * of one that is done is answered by it; one that finds it started, by no process of this worker, ends what is left of
 * the agent and the try is lost: it may have spent money, so it is never simply started again.
 */
export function createAgentRuns(dependencies: Dependencies) {
  const runOrJoin = joinDeliveries({
    toKey: ({ session }: RunAgentInput) => session.sessionId,
    run: (input: RunAgentInput, signal) => runOnce(dependencies, input, signal),
  });
  return {
    runAgent: (input: RunAgentInput): Promise<RunAgentResult> =>
      untilCancelled(async (signal) => checkPayload('runAgent', await runOrJoin(input, signal))),
  };
}

async function runOnce(
  dependencies: Dependencies,
  input: RunAgentInput,
  signal: AbortSignal,
): Promise<RunAgentResult> {
  const { cell, tryNumber } = input;
  const stored = await findCommandRun(dependencies.db, { key: cell, tryNumber });
  const place = await dependencies.runs.find(cell);
  const harness = toCommandHarness(place);
  const engine = { key: toAgentCallKey(input), engineId: toAgentEngineId(place.request.spec, harness) };
  if (stored.state === 'completed') return await retell(dependencies, engine, stored.run);
  const session = await attach(dependencies, input.session);
  if (stored.state !== 'none') {
    if (session !== 'lost') await session?.endProcesses();
    return await lose(dependencies, engine, input);
  }
  if (session === 'lost' || session === null) return over(environmentLost(input.session).end);
  waitForKeys(dependencies, Object.values(harness.variablesEnv));
  const run = { input, place, harness, session, signal };
  const proxy = harness.proxy ? await openProxy(dependencies, run) : null;
  if (proxy !== null && 'kind' in proxy) return over(proxy);
  try {
    const admission = await admit(dependencies, run);
    if ('kind' in admission) return admission;
    const watched = { ...engine, probe: admission.probe };
    const watch = watchProbe(dependencies, watched);
    try {
      return await executeAgent(dependencies, run, { proxy, ...admission });
    } catch (error) {
      if (signal.aborted) await noteCancelled(dependencies, watched, input).catch(() => undefined);
      throw error;
    } finally {
      watch.stop();
    }
  } finally {
    await proxy?.close();
  }
}

/** The proxy, or why this session can have none: another one may. */
async function openProxy(
  dependencies: Dependencies,
  { input, harness, session, signal }: AgentRun,
): Promise<RecordingProxy | AgentEnd> {
  const { cell, tryNumber } = input;
  const steps = harness.maxTurns === null ? {} : { maxSteps: harness.maxTurns };
  try {
    return await openRecordingProxy(dependencies, { cell, tryNumber, session, signal, ...steps });
  } catch (error) {
    if (error instanceof SessionLostError) return environmentLost(input.session).end;
    if (!(error instanceof ProxyUnreachableError)) throw error;
    const reason = { code: 'proxy_unreachable', phase: 'run', message: error.message } as const;
    return { kind: 'failed', outcome: 'infra', reason };
  }
}

type AgentEngine = Pick<WatchedCall, 'key' | 'engineId'>;

/** Whoever kept how it ended may have died before the breaker was told. */
async function retell(
  dependencies: Dependencies,
  engine: AgentEngine,
  { result, hasAsked }: CommandRun,
): Promise<RunAgentResult> {
  await tellAgentEnd(dependencies, { ...engine, hasAsked }, result);
  return result;
}

/** Its worker was lost, and nobody knows how far it came; if it was to find out about its program, the next one does. */
async function lose(
  dependencies: Dependencies,
  engine: AgentEngine,
  { cell, tryNumber }: RunAgentInput,
): Promise<RunAgentResult> {
  await endCommandRun(dependencies.db, { key: cell, tryNumber }, 'lost');
  await giveUpProbe(dependencies, { ...engine, probe: true });
  return over(COMMAND_LOST);
}

async function noteCancelled(
  dependencies: Dependencies,
  watched: WatchedCall,
  { cell, tryNumber }: RunAgentInput,
): Promise<void> {
  await endCommandRun(dependencies.db, { key: cell, tryNumber }, 'cancelled');
  await giveUpProbe(dependencies, watched);
}

/** A try is spent on it; without one left the cell is interrupted. */
export const COMMAND_LOST: AgentEnd = {
  kind: 'failed',
  outcome: 'interrupted',
  reason: {
    code: 'command_lost',
    phase: 'run',
    message:
      'the worker that ran the agent was lost, and the agent with it; give retries: { max: 1 } to run such attempts again, or `assay resume`',
  },
};

const over = (end: AgentEnd): RunAgentResult => ({
  kind: 'over',
  end,
  answerDigest: null,
  spent: { tokens: null, costUsd: null, measuredMs: 0 },
});

function toCommandHarness({ request }: CellPlace): CommandHarness {
  const { harness } = request.spec;
  if (harness.kind !== 'command') throw new Error(`request "${request.spec.name}" has no command harness`);
  return harness;
}

type Admission =
  | { readonly requestNumber: number; readonly probe: boolean }
  | Extract<RunAgentResult, { kind: 'stopped' | 'held' }>;

/** The store lets it start, as it does every call; then its row is written. */
async function admit(dependencies: Dependencies, { input, place, harness }: AgentRun): Promise<Admission> {
  const { db } = dependencies;
  const engineId = toAgentEngineId(place.request.spec, harness);
  const { cell, tryNumber, session } = input;
  const admission = await beginCall(db, {
    key: toAgentCallKey(input),
    modelId: place.model.id,
    engineId,
    // Through the proxy every request reserves its own.
    worstTokens: 0,
    worstUsd: harness.proxy ? 0 : null,
    maxRetries: 0,
  });
  switch (admission.kind) {
    case 'granted':
      if (!(await startCommandRun(db, { key: cell, tryNumber, session })))
        throw new Error('another delivery has started this agent meanwhile');
      return { requestNumber: admission.requestNumber, probe: admission.probe };
    case 'stopped':
      return { kind: 'stopped', scope: 'run', code: admission.reason, spent: false };
    case 'over_budget':
      return { kind: 'stopped', scope: admission.scope, code: 'budget', spent: false };
    case 'engine_down': {
      const at = { ...place, generation: cell.generation };
      const { message } = await blockEngine(dependencies, at, { ...admission, engineId });
      return { kind: 'stopped', scope: 'engine', code: admission.reason, message, spent: false };
    }
    case 'wait':
      if (
        admission.reason === 'engine_down' &&
        mayGiveWay(place.request.spec.environment, { step: 1, tryNumber })
      )
        return { kind: 'held', waitMs: admission.waitMs };
      throw comeBack(admission.waitMs, `waiting: ${admission.reason}`);
    case 'recorded':
    case 'failed':
      throw new Error('the call of this agent is settled, and its row is not there');
  }
}
