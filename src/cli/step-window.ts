import { InvalidArgumentError } from 'commander';

/** Steps of an agent, from 1, both ends included. */
export type StepRange = { readonly from: number; readonly to: number };

/** The steps that are shown of all. */
export type StepWindow = StepRange & { readonly total: number };

/** Steps of one page: what a person reads at once. */
export const PAGE_STEPS = 40;

/** The steps that are asked for, else the last page: an attempt fails at its end. */
export function toStepWindow(total: number, asked: StepRange | undefined): StepWindow {
  if (asked === undefined) return { from: Math.max(1, total - PAGE_STEPS + 1), to: total, total };
  return { from: asked.from, to: Math.min(asked.to, total), total };
}

/** The page before, or null when this one begins with the first step. */
export function toEarlierPage({ from }: StepWindow): StepRange | null {
  return from <= 1 ? null : { from: Math.max(1, from - PAGE_STEPS), to: from - 1 };
}

/** `7` or `11-40`. Throws an InvalidArgumentError on anything else. */
export function parseStepRange(text: string): StepRange {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text.trim()) ?? [];
  const range = { from: Number(first), to: Number(last) };
  if (Number.isSafeInteger(range.from) && range.from >= 1 && range.to >= range.from) return range;
  throw new InvalidArgumentError(
    'Give one step, such as 7, or the first and the last of several, such as 11-40.',
  );
}
