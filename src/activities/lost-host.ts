import { setTimeout as sleep } from 'node:timers/promises';
import { decideToolCall } from '../domain/tool-ledger.ts';
import type { FindHostInput, FindHostResult, RunAgentInput } from '../domain/step.ts';
import { endCommandRun, findCommandRun } from '../store/command-runs.ts';
import { isHostAlive } from '../store/hosts.ts';
import { findToolCall } from '../store/tool-calls.ts';
import type { Dependencies } from './dependencies.ts';
import { environmentLost } from './execute-tool.ts';
import { COMMAND_LOST } from './run-agent.ts';
import { toToolCallKey } from './observe-tool.ts';
import { findOfferedTool } from './mcp-tools.ts';

/** A machine that slept says that it lives a moment after it woke. */
const WAKE_MS = 15_000;

/**
 * Activity `findHost`: a step was not taken up by its host in time. While its worker lives the step is sent again; else
 * the environment is lost. The ledger decides, never the kind of time-out: a call that was started, may not be
 * repeated and has an unknown outcome ends the attempt instead of trying it elsewhere.
 */
export const createHostSearch = (dependencies: Dependencies) => ({
  async findHost({ hostId, session, step, agent }: FindHostInput): Promise<FindHostResult> {
    const untilMs = Date.now() + WAKE_MS;
    while (!(await isHostAlive(dependencies.db, hostId))) {
      if (Date.now() > untilMs)
        return agent === undefined
          ? await toLost(dependencies, { hostId, session, step })
          : await toAgentLost(dependencies, session, agent);
      await sleep(1_000);
    }
    return { kind: 'there' };
  },
});

/**
 * One that was started may have spent money: its try is lost, and not only its session. Of one that has ended the
 * answer is there, but not the files: as any other loss of an environment.
 */
async function toAgentLost(
  { db }: Dependencies,
  session: FindHostInput['session'],
  { cell, tryNumber }: RunAgentInput,
): Promise<FindHostResult> {
  const { state } = await findCommandRun(db, { key: cell, tryNumber });
  if (state === 'none' || state === 'completed') return { kind: 'lost', end: environmentLost(session).end };
  await endCommandRun(db, { key: cell, tryNumber }, 'lost');
  return { kind: 'lost', end: COMMAND_LOST };
}

async function toLost(dependencies: Dependencies, { session, step }: FindHostInput): Promise<FindHostResult> {
  const lost = { kind: 'lost', end: environmentLost(session).end } as const;
  if (step === null) return lost;
  const row = await findToolCall(dependencies.db, toToolCallKey(step));
  if (row === null || row.state !== 'started') return lost;
  const place = await dependencies.runs.find(step.cell);
  const where = { place, cell: step.cell, tryNumber: step.tryNumber, session: null };
  const { tool } = await findOfferedTool(dependencies, where, row.tool);
  if (tool === null) return lost;
  const decision = decideToolCall({ kind: 'started', executions: row.executions }, tool.policy);
  if (decision !== 'refuse' && decision !== 'ask') return lost;
  const message = `${row.tool} was started, its host was lost, and it may not be repeated; run the attempt again to start it from a fresh session`;
  return {
    kind: 'lost',
    end: {
      kind: 'failed',
      outcome: 'refused',
      reason: { code: 'tool_outcome_unknown', phase: 'run', message },
    },
  };
}
