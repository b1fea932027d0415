import type { CommandHarness } from '../domain/command-harness.ts';
import type { AgentEnd } from '../domain/outcome.ts';
import type { RunAgentInput, RunAgentResult } from '../domain/step.ts';
import { SessionLostError, type EnvironmentSession, type ExecResult } from '../environments/environment.ts';
import { findTooLong, toAgentCommand, type AgentCommand } from './agent-command.ts';
import { AgentOutput } from './agent-output.ts';
import { AgentReport } from './agent-report.ts';
import { concludeAgent, NOT_EXECUTED } from './conclude-agent.ts';
import type { Dependencies } from './dependencies.ts';
import { environmentLost } from './execute-tool.ts';
import type { RecordingProxy } from './recording-proxy.ts';
import type { CellPlace } from './run-reader.ts';

export type AgentRun = {
  readonly input: RunAgentInput;
  readonly place: CellPlace;
  readonly harness: CommandHarness;
  readonly session: EnvironmentSession;
  readonly signal: AbortSignal;
};

/** Runs an agent that was let start, reads what it left, and keeps that before anybody is told. */
export async function executeAgent(
  dependencies: Dependencies,
  run: AgentRun,
  { proxy, requestNumber }: { readonly proxy: RecordingProxy | null; readonly requestNumber: number },
): Promise<RunAgentResult> {
  const { harness, place, session } = run;
  const command = toAgentCommand({ harness, place, session, proxy, readKey: dependencies.readKey });
  const timeLimitMs = Math.min(harness.timeoutMs, place.limits.attemptTimeMs ?? Infinity);
  const report = new AgentReport(harness);
  using output = new AgentOutput(report.stdoutReaders);
  const executed = findTooLong(command) ?? (await execute(run, { command, output, proxy, timeLimitMs }));
  await proxy?.close();
  return await concludeAgent(dependencies, run, {
    executed,
    report,
    output,
    requestNumber,
    program: command.command[0] ?? '',
    timeLimitMs,
    proxied: proxy?.report() ?? null,
  });
}

/** How the process ended, or what kept it from being started. */
export type Executed = ExecResult | AgentEnd;

async function execute(
  { session, input, signal }: AgentRun,
  facts: {
    readonly command: AgentCommand;
    readonly output: AgentOutput;
    readonly proxy: RecordingProxy | null;
    readonly timeLimitMs: number;
  },
): Promise<Executed> {
  const { command, output, proxy, timeLimitMs } = facts;
  using stubborn = endStubborn(proxy);
  const startedAt = performance.now();
  try {
    if (command.promptFile !== null)
      await session.writeFile(command.promptFile.path, Buffer.from(command.promptFile.text));
    return await session.exec(
      {
        command: command.command,
        timeoutMs: timeLimitMs,
        stdin: command.stdin,
        cwd: null,
        variables: command.variables,
        onOutput: output.onOutput,
        onErrorOutput: output.onErrorOutput,
      },
      AbortSignal.any([signal, stubborn.signal]),
    );
  } catch (error) {
    if (signal.aborted) throw error;
    if (stubborn.signal.aborted) return toEnded(Math.round(performance.now() - startedAt));
    if (error instanceof SessionLostError) return environmentLost(input.session).end;
    throw error;
  }
}

/** An agent whose requests are refused ends by itself, as a rule; one that goes on asking is ended. */
const STUBBORN_MS = 10_000;

function endStubborn(proxy: RecordingProxy | null): Disposable & { readonly signal: AbortSignal } {
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onRefusing = (): void => {
    timer = setTimeout(() => ended.abort(new Error('the agent went on asking')), STUBBORN_MS);
  };
  if (proxy?.refusing.aborted === true) onRefusing();
  else proxy?.refusing.addEventListener('abort', onRefusing, { once: true });
  return {
    signal: ended.signal,
    [Symbol.dispose]: () => {
      proxy?.refusing.removeEventListener('abort', onRefusing);
      clearTimeout(timer);
    },
  };
}

const toEnded = (durationMs: number): ExecResult => ({ ...NOT_EXECUTED, signal: 'SIGKILL', durationMs });
