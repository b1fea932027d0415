import type { RunProgress } from '../../client/progress.ts';
import { isTerminal } from '../../domain/outcome.ts';
import { formatAskedCell } from '../../client/resolve-tool-call.ts';
import { quoteWord } from '../quote-word.ts';
import { toPrintable } from '../../reports/terminal-text.ts';

/**
 * The last line of the live display: what somebody has to type, the command first because a narrow screen cuts the
 * end; else what goes on.
 */
export function toHint(view: { readonly progress: RunProgress; readonly notice: string | null }): string {
  const { progress, notice } = view;
  const text =
    notice ?? toCommand(progress) ?? progress.reason ?? (isTerminal(progress.state) ? '' : 'Ctrl-C cancels');
  return toPrintable(text);
}

function toCommand({ runId, state, reason, missingKeys, asked }: RunProgress): string | null {
  const because = reason === null ? '' : ` · ${reason}`;
  if (state === 'awaiting_approval')
    return `assay approve ${runId} lets it start, with --reject it ends${because}`;
  if (state === 'paused') return `assay unpause ${runId} goes on${because}`;
  const [first] = asked;
  if (first !== undefined) {
    const cell = quoteWord(formatAskedCell(first));
    return `assay resolve ${runId} ${cell} done|rerun|skip · ${first.tool} of step ${first.step} lost its worker`;
  }
  if (missingKeys.length === 0) return null;
  return `export ${missingKeys.map((name) => `${name}=...`).join(' ')}; assay watch ${runId} · no worker has the key`;
}
