import { createInterface } from 'node:readline/promises';
import { ClientError } from '../client/client-error.ts';
import { describeNeed, type ApprovalNeed } from '../domain/approval.ts';

/**
 * Whether spending above `budgets.confirmAboveUsd` has been confirmed: by `--yes`, or by an answer on a
 * terminal. False = there is nothing to confirm, or nobody to ask: such a run waits for `assay approve`.
 * Throws a ClientError when somebody says no.
 */
export async function confirmSpending(
  need: ApprovalNeed | null,
  { yes, ask }: { readonly yes: boolean; readonly ask: boolean },
): Promise<boolean> {
  if (yes || need === null) return yes;
  if (!ask || !process.stdin.isTTY || !process.stderr.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${toSentence(describeNeed(need))}. Go on? [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return true;
  } finally {
    lines.close();
  }
  throw new ClientError('Not confirmed: nothing was started.');
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
