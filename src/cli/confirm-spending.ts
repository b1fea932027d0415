import { createInterface } from 'node:readline/promises';
import { ClientError } from '../client/client-error.ts';
import type { Estimate } from '../domain/plan.ts';
import type { RunSpec } from '../domain/run.ts';
import { formatUsd } from './format.ts';

export type Spending = {
  readonly spec: RunSpec;
  readonly estimate: Estimate;
  readonly yes: boolean;
  readonly json: boolean;
};

/**
 * Whether spending above `budgets.confirmAboveUsd` has been confirmed: by `--yes`, or by an answer on a
 * terminal. False = there is nothing to confirm. Throws a ClientError when nobody confirms.
 */
export async function confirmSpending({ spec, estimate, yes, json }: Spending): Promise<boolean> {
  const above = spec.budgets.confirmAboveUsd;
  if (yes || above === null) return yes;
  if (estimate.costUsd !== null && estimate.costUsd <= above) return false;
  const cost =
    estimate.costUsd === null
      ? `cannot be estimated (no price for ${estimate.unpricedModels.join(', ')})`
      : `is estimated at ${formatUsd(estimate.costUsd)}`;
  const said = `The cost of this run ${cost}; budgets.confirmAboveUsd is ${formatUsd(above)}.`;
  if (json || !process.stdin.isTTY || !process.stderr.isTTY) {
    throw new ClientError(`${said} Confirm with --yes, or look with --dry-run.`);
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${said} Go on? [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return true;
  } finally {
    lines.close();
  }
  throw new ClientError('Not confirmed: nothing was started.');
}
