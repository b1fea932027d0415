import { formatAskedCell } from '../client/resolve-tool-call.ts';
import type { RunState } from '../domain/outcome.ts';
import type { AskedCallRow } from '../store/asked-calls.ts';
import { quoteWord } from './quote-word.ts';

type Waiting = {
  readonly runId: string;
  readonly state: RunState;
  readonly reason: string | null;
  /** Tool calls whose outcome nobody knows. */
  readonly asked?: readonly AskedCallRow[];
};

/** What a run waits for that somebody has to type, and what; null = it waits for nobody. */
export function describeWait({ runId, state, reason, asked = [] }: Waiting): string | null {
  if (state === 'awaiting_approval') {
    const why = reason ?? 'its cost has to be confirmed';
    return `Awaiting approval: ${why}. \`assay approve ${runId}\` lets it start, with --reject it ends.`;
  }
  if (state === 'paused') return `${toSentence(reason ?? 'paused')}. \`assay unpause ${runId}\` goes on.`;
  return asked.length === 0 ? null : describeAsked(runId, asked);
}

/** Attempts that wait for somebody's word on a tool call, the first by name. */
export function describeAsked(runId: string, asked: readonly AskedCallRow[]): string {
  const [first] = asked;
  if (first === undefined) return '';
  const cell = formatAskedCell(first);
  const others = asked.length === 1 ? '' : ` (and ${asked.length - 1} more)`;
  return (
    `Waits for a decision: ${cell}, ${first.tool} of step ${first.step}, was started and its worker was lost${others}. ` +
    `\`assay resolve ${runId} ${quoteWord(cell)} done|rerun|skip\``
  );
}

/** Commands to type next for a run that has not ended, the likeliest first. */
export function listOpenNext({ runId, state }: Pick<Waiting, 'runId' | 'state'>): readonly string[] {
  const watch = `assay watch ${runId}`;
  if (state === 'awaiting_approval')
    return [`assay approve ${runId}`, `assay approve ${runId} --reject`, watch];
  return state === 'paused'
    ? [`assay unpause ${runId}`, watch, `assay cancel ${runId}`]
    : [watch, `assay cancel ${runId}`];
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
