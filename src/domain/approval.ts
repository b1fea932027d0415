import type { Reason } from './outcome.ts';
import type { Estimate, ModelEstimate } from './plan.ts';
import type { Budgets } from './run.ts';

/** Why a run waits for somebody's word. */
export type ApprovalNeed = {
  /** Null = a model has no price. */
  readonly estimatedUsd: number | null;
  readonly aboveUsd: number;
  /** The run ends as cancelled when nobody has decided after this time. */
  readonly expiryMs: number;
};

/** What somebody said, or nobody in time. */
export type Decision = {
  readonly kind: 'approved' | 'rejected' | 'expired';
  readonly by: string | null;
  readonly note: string | null;
};

/**
 * Spending above `budgets.confirmAboveUsd` needs a person's word, and so does a cost that cannot be
 * estimated. Null = nobody has to be asked.
 */
export function findApprovalNeed(
  budgets: Pick<Budgets, 'confirmAboveUsd' | 'approvalExpiryMs'>,
  estimatedUsd: number | null,
): ApprovalNeed | null {
  const { confirmAboveUsd: aboveUsd, approvalExpiryMs: expiryMs } = budgets;
  if (aboveUsd === null || (estimatedUsd !== null && estimatedUsd <= aboveUsd)) return null;
  return { estimatedUsd, aboveUsd, expiryMs };
}

/** Why a run waits, in half a sentence for people. */
export const describeNeed = ({ estimatedUsd, aboveUsd }: ApprovalNeed): string =>
  estimatedUsd === null
    ? `the cost cannot be estimated (a model has no price); budgets.confirmAboveUsd is ${toUsd(aboveUsd)}`
    : `the estimate is ${toUsd(estimatedUsd)}; budgets.confirmAboveUsd is ${toUsd(aboveUsd)}`;

const toUsd = (usd: number): string => `${usd < 1 ? Number(usd.toPrecision(2)) : usd.toFixed(2)} USD`;

/** How a run ends that nobody approved. */
export function toRefusal(decision: Decision, { expiryMs }: ApprovalNeed): Reason {
  const phase = 'prepare';
  if (decision.kind === 'expired') {
    const hours = expiryMs / 3_600_000;
    const after = hours >= 1 ? `${Number(hours.toFixed(1))} h` : `${Math.round(expiryMs / 1_000)} s`;
    const message = `nobody approved the run within ${after} (budgets.approvalExpiry); \`assay resume\` asks again`;
    return { code: 'approval_expired', phase, message };
  }
  const by = decision.by === null ? '' : ` by ${decision.by}`;
  const note = decision.note === null ? '' : `: ${decision.note}`;
  return { code: 'rejected', phase, message: `rejected${by}${note}` };
}

/**
 * Cost of the cells that are left: of each model's estimate the share of its cells that are open. Null when a
 * model with open cells has no price.
 */
export function estimateOpenUsd(
  { models }: Pick<Estimate, 'models'>,
  openCells: ReadonlyMap<string, number>,
): number | null {
  const costs = models
    .filter(({ modelId }) => (openCells.get(modelId) ?? 0) > 0)
    .map((model) => toShare(model, openCells.get(model.modelId) ?? 0));
  return costs.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0);
}

const toShare = ({ costUsd, cells }: ModelEstimate, open: number): number | null =>
  costUsd === null ? null : cells === 0 ? 0 : (costUsd * open) / cells;
