import { checkLimits } from './agent-limits.ts';
import { toAgentEnd } from './call-end.ts';
import { toCommandEnd, type CommandFacts } from './command-end.ts';
import type { ClassifiedFailure } from './failure.ts';
import type { AgentEnd } from './outcome.ts';
import type { AttemptLimits } from './suite.ts';
import { totalTokens } from './usage.ts';

/** What the recording proxy saw of an agent's requests. */
export type ProxiedCalls = {
  readonly calls: number;
  /** Those that brought an answer. */
  readonly answers: number;
  /** Of the last request, when it brought no answer. */
  readonly lastFailure: Pick<ClassifiedFailure, 'class' | 'message' | 'status'> | null;
};

/**
 * What the end of an external agent means for its attempt, with what the proxy saw. Where its model never answered, or
 * failed it last and the agent failed too, the model is to blame and not the agent, whatever it printed.
 */
export function decideAgentEnd(
  facts: CommandFacts,
  {
    proxied,
    limits,
    costUsd,
  }: {
    readonly proxied: ProxiedCalls | null;
    readonly limits: AttemptLimits;
    readonly costUsd: number | null;
  },
): AgentEnd {
  const failure = proxied?.lastFailure ?? null;
  const failed = !facts.timedOut && facts.exitCode !== 0;
  if (proxied !== null && failure !== null && failure.class !== 'cancelled') {
    if (proxied.answers === 0 || (failed && failure.class !== 'bad_request'))
      return toAgentEnd({ classified: failure, spentBefore: proxied.answers > 0, requests: proxied.calls });
  }
  const end = toCommandEnd(facts);
  if (end.kind === 'failed' || end.limit !== null || proxied !== null) return end;
  // Without the proxy nobody could stop it in time: what it went over is said.
  const limit = checkLimits({
    limits: { ...limits, attemptTimeMs: null },
    steps: 0,
    maxSteps: Infinity,
    tokens: totalTokens(facts.usage),
    costUsd,
    measuredMs: facts.durationMs,
  });
  return { kind: 'ended', limit };
}
