import type { RunState } from '../domain/outcome.ts';

type Waiting = { readonly runId: string; readonly state: RunState; readonly reason: string | null };

/** What a run waits for that somebody has to type, and what; null = it waits for nobody. */
export function describeWait({ runId, state, reason }: Waiting): string | null {
  if (state === 'awaiting_approval') {
    const why = reason ?? 'its cost has to be confirmed';
    return `Awaiting approval: ${why}. \`assay approve ${runId}\` lets it start, with --reject it ends.`;
  }
  return state === 'paused' ? `${toSentence(reason ?? 'paused')}. \`assay unpause ${runId}\` goes on.` : null;
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
