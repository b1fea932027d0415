import { InvalidArgumentError } from 'commander';

/** A value of an option that may be given several times. */
export const collect = (value: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  value,
];

/** A whole number of at least 1. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new InvalidArgumentError('expected a whole number of at least 1');
  }
  return count;
}

/** An amount of money in USD, 0 included. */
export function parseAmount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected an amount in USD, such as 2.50');
  return Number(text);
}

/** A share from 0 to 1. */
export function parseShare(text: string): number {
  const share = text.trim() === '' ? Number.NaN : Number(text);
  if (!(share >= 0 && share <= 1)) throw new InvalidArgumentError('expected a number from 0 to 1');
  return share;
}
