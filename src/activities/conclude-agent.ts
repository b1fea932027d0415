import { decideAgentEnd } from '../domain/agent-end.ts';
import type { CallKey } from '../domain/ids.ts';
import { redactJson } from '../domain/redact.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import type { CommandRun, RunAgentInput, RunAgentResult } from '../domain/step.ts';
import type { AssistantMessage } from '../domain/transcript.ts';
import { totalTokens, UNKNOWN_USAGE } from '../domain/usage.ts';
import type { ExecResult } from '../environments/environment.ts';
import { toEngineId } from '../providers/lookup.ts';
import { noteWarning } from '../store/attempt-warnings.ts';
import { toJsonBlob } from '../store/blobs.ts';
import { completeCommandRun } from '../store/command-runs.ts';
import { noteExhausted } from '../store/engine-health.ts';
import type { CellPlace } from './run-reader.ts';
import type { AgentRun, Executed } from './agent-execution.ts';
import type { AgentOutput } from './agent-output.ts';
import { toAgentEngineId } from './agent-engine.ts';
import type { AgentReport } from './agent-report.ts';
import type { Dependencies } from './dependencies.ts';
import { tellAgentEnd } from './engine-watch.ts';
import type { ProxyReport } from './recording-proxy.ts';
import { untilStoreIsBack, untilWritten } from './until-written.ts';

export type Conclusion = {
  readonly executed: Executed;
  readonly report: AgentReport;
  readonly output: AgentOutput;
  readonly requestNumber: number;
  readonly program: string;
  readonly timeLimitMs: number;
  /** What the proxy saw; null = it was not used. */
  readonly proxied: ProxyReport | null;
};

/** Reads what an agent left, decides what its end means, and keeps both before anybody is told. */
export async function concludeAgent(
  dependencies: Dependencies,
  run: AgentRun,
  conclusion: Conclusion,
): Promise<RunAgentResult> {
  const { executed, output } = conclusion;
  output.end();
  const result = 'kind' in executed ? NOT_EXECUTED : executed;
  const words = await readWords(dependencies, run, { ...conclusion, result });
  const message: AssistantMessage = { role: 'assistant', text: words.answer, reasoning: null, toolCalls: [] };
  // A line of it is cut for the message: a secret would not be found in half of itself.
  const tail = dependencies.redact(output.tail);
  const end = 'kind' in executed ? executed : toEnd(run, { ...conclusion, result, words, tail });
  const saved = await untilStoreIsBack(() => output.save(dependencies.db, dependencies.redact), run.signal);
  const told: RunAgentResult = toStopped(conclusion) ?? {
    kind: 'over',
    end: redactJson(end, dependencies.redact) as AgentEnd,
    answerDigest: words.answer === '' ? null : toJsonBlob(message).digest,
    spent: { tokens: words.tokens, costUsd: words.costUsd, measuredMs: result.durationMs },
  };
  const { exitCode, signal, timedOut, durationMs } = result;
  const recorded: CommandRun = {
    result: told,
    exitCode,
    signal,
    timedOut,
    durationMs,
    usageFrom: words.usageFrom,
    usage: words.usage,
    costUsd: words.costUsd,
    hasAsked: (conclusion.proxied?.calls ?? 0) > 0,
    ...saved,
    tail: tail.slice(-TAIL_SHOWN),
  };
  await keep(dependencies, run, { conclusion, recorded, message });
  return told;
}

const TAIL_SHOWN = 4_000;

/** What is known of a process that told nothing. */
export const NOT_EXECUTED: ExecResult = {
  exitCode: null,
  signal: null,
  timedOut: false,
  spawnError: null,
  output: '',
  outputBytes: 0,
  durationMs: 0,
  exceeded: null,
};

type Words = Pick<CommandRun, 'usage' | 'costUsd' | 'usageFrom'> & {
  readonly answer: string;
  readonly tokens: number | null;
};

/** Its answer and usage. What the proxy counted is of rows of its own. */
async function readWords(
  { redact }: Dependencies,
  { session, place }: AgentRun,
  { report, result, executed, proxied }: Conclusion & { readonly result: ExecResult },
): Promise<Words> {
  if ('kind' in executed)
    return { answer: '', tokens: null, usage: UNKNOWN_USAGE, costUsd: null, usageFrom: null };
  await report.readFiles(session);
  const answer = redact(await report.findAnswer(session, result));
  if (proxied !== null) {
    const { tokens, costUsd } = proxied;
    return { answer, tokens, usage: UNKNOWN_USAGE, costUsd, usageFrom: 'proxy' };
  }
  const said = report.findUsage(place.model.price);
  if (said === null) return { answer, tokens: null, usage: UNKNOWN_USAGE, costUsd: null, usageFrom: null };
  return { answer, ...said, tokens: totalTokens(said.usage), usageFrom: 'agent' };
}

function toEnd(
  { place }: AgentRun,
  facts: Conclusion & { readonly result: ExecResult; readonly words: Words; readonly tail: string },
): AgentEnd {
  const { result, words, proxied, tail, program, timeLimitMs } = facts;
  if (proxied?.ended?.kind === 'limit') return { kind: 'ended', limit: proxied.ended.limit };
  return decideAgentEnd(
    {
      ...result,
      program,
      timeLimitMs,
      usage: proxied === null ? words.usage : { ...UNKNOWN_USAGE, outputTokens: proxied.tokens },
      answer: words.answer,
      tail,
    },
    { proxied, limits: place.limits, costUsd: words.costUsd },
  );
}

/** The store granted no further call of its model. */
const toStopped = ({ proxied }: Conclusion): RunAgentResult | null =>
  proxied?.ended?.kind === 'stopped'
    ? {
        kind: 'stopped',
        scope: proxied.ended.scope,
        code: proxied.ended.code,
        spent: proxied.calls > 0,
      }
    : null;

async function keep(
  dependencies: Dependencies,
  { input, harness, place, signal }: AgentRun,
  {
    conclusion,
    recorded,
    message,
  }: { readonly conclusion: Conclusion; readonly recorded: CommandRun; readonly message: AssistantMessage },
): Promise<void> {
  const { cell, tryNumber } = input;
  const failed = recorded.result.kind === 'over' && recorded.result.end.kind === 'failed';
  const call = {
    key: toAgentCallKey(input),
    requestNumber: conclusion.requestNumber,
    message,
    // The proxy's requests are the transcript where it is used.
    sequence: harness.proxy || message.text === '' ? null : 1,
    finishReason: failed ? ('error' as const) : ('stop' as const),
    usage: harness.proxy ? NOTHING_OF_ITS_OWN : recorded.usage,
    costUsd: harness.proxy ? 0 : recorded.costUsd,
    latencyMs: recorded.durationMs,
    notes: [],
  };
  const run = { key: cell, tryNumber, run: recorded, call };
  await untilWritten(() => completeCommandRun(dependencies.db, run), signal);
  const engineId = toAgentEngineId(place.request.spec, harness);
  const agent = { key: call.key, engineId, hasAsked: recorded.hasAsked };
  await untilWritten(() => tellAgentEnd(dependencies, agent, recorded.result), signal);
  if (failed) await untilWritten(() => tellModelEnd(dependencies, place, conclusion.proxied), signal);
  for (const text of conclusion.report.warnings) {
    const warning = { tryNumber, phase: 'collect', message: dependencies.redact(text) } as const;
    await noteWarning(dependencies.db, { key: cell, warning }).catch(() => undefined);
  }
}

/**
 * An agent repeats its requests by itself: when it has failed and the last of them did, for a reason that may pass, its
 * retries are used up.
 */
async function tellModelEnd(
  { db, holdPace }: Dependencies,
  { provider }: CellPlace,
  proxied: ProxyReport | null,
): Promise<void> {
  const failure = proxied?.lastFailure;
  if (failure == null || !failure.retryable) return;
  const engine = { engineId: toEngineId(provider), role: 'agent' } as const;
  await noteExhausted(db, engine, { ...holdPace, message: failure.message, resetMs: null });
}

/** Each request that went through the proxy has a row of its own. */
const NOTHING_OF_ITS_OWN = { ...UNKNOWN_USAGE, inputTokens: 0, outputTokens: 0 };

/** The row of an agent's process among the calls of its attempt. */
export const toAgentCallKey = ({ cell, tryNumber }: RunAgentInput): CallKey => ({
  runId: cell.runId,
  task: cell.task,
  attempt: cell.attempt,
  generation: cell.generation,
  tryNumber,
  purpose: 'command',
  step: 1,
});
