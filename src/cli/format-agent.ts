import { formatCount } from '../domain/format-count.ts';
import type { CommandRun } from '../domain/step.ts';
import type { AgentDetail } from '../store/attempt-detail.ts';
import { formatDuration, indent, toPrintable } from './format.ts';

/** The process of an external agent for people: how it ended, where its usage was read, and what it printed last. */
export function formatAgent({ tryNumber, state, run }: AgentDetail): string {
  if (run === null) return `try ${tryNumber}: ${state === 'lost' ? 'its worker was lost' : 'runs'}`;
  const head = `try ${tryNumber}: ${toEnd(run)} after ${formatDuration(run.durationMs)}; usage ${toSource(run)}`;
  if (run.outputBytes === 0) return `${head}; it printed nothing`;
  const cut = run.cutBytes === 0 ? '' : `, of which ${formatCount(run.cutBytes, 'byte')} are not kept`;
  const printed = `it printed ${formatCount(run.outputBytes, 'byte')}${cut} (blob ${run.outputDigest ?? ''}); the end:`;
  return `${head}\n${printed}\n${indent(toPrintable(run.tail.trimEnd()), '  ')}`;
}

function toEnd({ timedOut, exitCode, signal }: CommandRun): string {
  if (timedOut) return 'ended at its time limit';
  return exitCode === null ? `ended by ${signal ?? 'nothing: it was not started'}` : `exit code ${exitCode}`;
}

function toSource({ usageFrom }: CommandRun): string {
  switch (usageFrom) {
    case 'proxy':
      return 'counted by the recording proxy';
    case 'agent':
      return 'as the agent says';
    case null:
      return 'unknown';
  }
}
