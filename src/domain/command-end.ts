import { isNoEvidence } from './no-evidence.ts';
import type { AgentEnd, Limit } from './outcome.ts';
import { findTerminalApiError } from './terminal-api-error.ts';
import type { Usage } from './usage.ts';
import { totalTokens } from './usage.ts';

/** How the process of an external agent ended, with what it printed and used. */
export type CommandFacts = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Why it could not be started, or null. */
  readonly spawnError: string | null;
  /** The program that was to be started, for messages. */
  readonly program: string;
  /** What is known of its tokens: from the proxy, or as it reported. */
  readonly usage: Usage;
  readonly answer: string;
  /** The end of all that it printed. */
  readonly tail: string;
  readonly durationMs: number;
  readonly timeLimitMs: number;
  /** The session's limit that was hit meanwhile, or null. */
  readonly exceeded: string | null;
};

/** Exit codes with which shells and environments say that a program could not be started. */
const NOT_STARTED: readonly (number | null)[] = [126, 127];

/**
 * What the end of an external agent means for its attempt: without any sign of a model a program that
 * never started is `infra`; tokens always win; a time-out is a limit and is graded; any other failure is the agent's,
 * unless the end of its output says that the API refuses for good.
 */
export function toCommandEnd(facts: CommandFacts): AgentEnd {
  const { exitCode, spawnError, usage } = facts;
  const spent = (totalTokens(usage) ?? 0) > 0;
  const neverStarted = spawnError !== null || NOT_STARTED.includes(exitCode);
  if (neverStarted && !spent) return toMissing(facts);
  if (facts.timedOut) return { kind: 'ended', limit: toTimeLimit(facts) };
  if (exitCode === 0) return isNoEvidence(facts.answer, usage) ? toNoEvidence(facts) : ENDED;
  return toRefused(facts, spent) ?? toFailed(facts);
}

const ENDED: AgentEnd = { kind: 'ended', limit: null };

const toTimeLimit = ({ timeLimitMs, durationMs }: CommandFacts): Limit => ({
  kind: 'time',
  limit: timeLimitMs,
  measured: durationMs,
});

/** Code of a program that is not there or may not be started. */
export const MISSING_PROGRAM = 'missing_program';

function toMissing({ program, exitCode, spawnError, tail }: CommandFacts): AgentEnd {
  const how = spawnError ?? `exit code ${exitCode}${said(tail)}`;
  const message = `the agent's program "${program}" could not be started (${how}): install it where the environment looks (its PATH), make it executable, then \`assay resume\``;
  return { kind: 'failed', outcome: 'infra', reason: { code: MISSING_PROGRAM, phase: 'run', message } };
}

function toNoEvidence({ answer }: CommandFacts): AgentEnd {
  const message = `the agent ended with exit code 0, no output tokens and an error as its answer: ${firstLine(answer)}; check its account and settings, then \`assay resume\``;
  return { kind: 'failed', outcome: 'infra', reason: { code: 'no_evidence', phase: 'run', message } };
}

const REMEDY = {
  billing: 'restore the balance or quota of the account',
  credential: 'check the key or login that the agent uses',
} as const;

function toRefused({ tail, exitCode, signal }: CommandFacts, spent: boolean): AgentEnd | null {
  const refusal = findTerminalApiError(tail);
  if (refusal === null) return null;
  const message = `the agent's model API refuses (${refusal.code}; ${formatExit(exitCode, signal)}): ${refusal.line}: ${REMEDY[refusal.class]}, then \`assay resume\``;
  const reason = { code: refusal.class, phase: 'run', message } as const;
  return { kind: 'failed', outcome: spent ? 'interrupted' : 'infra', reason };
}

function toFailed({ exitCode, signal, exceeded, tail }: CommandFacts): AgentEnd {
  const limit = exceeded === null ? '' : `; it hit the session's limit resources.${exceeded}`;
  const message = `the agent ended with ${formatExit(exitCode, signal)}${limit}${said(tail)}; \`assay show\` has its whole output`;
  return { kind: 'failed', outcome: 'error', reason: { code: 'agent_failed', phase: 'run', message } };
}

const formatExit = (exitCode: number | null, signal: string | null): string =>
  exitCode === null ? `signal ${signal ?? 'unknown'}` : `exit code ${exitCode}`;

const LONGEST_LINE = 200;

/** The last line that was printed, as part of a sentence. */
function said(tail: string): string {
  const last = tail.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return last === ''
    ? ', it printed nothing'
    : `, it last printed: ${last.slice(-LONGEST_LINE).toWellFormed()}`;
}

const firstLine = (text: string): string =>
  (text.trim().split('\n')[0] ?? '').slice(0, LONGEST_LINE).toWellFormed();
