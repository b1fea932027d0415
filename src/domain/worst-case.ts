import { toCostUsd, UNKNOWN_USAGE, type Price } from './usage.ts';

/** What one request may use up at the most; null USD = nothing bounds it, or there is no price. */
export type WorstCase = { readonly tokens: number; readonly usd: number | null };

/** Input is at most a token a byte of what is sent; output at most its cap (0 where none is sent). */
export function toWorstCase(request: {
  readonly inputBytes: number;
  /** Null = nothing bounds the answer. */
  readonly maxOutputTokens: number | null;
  readonly price: Price | null;
}): WorstCase {
  const { inputBytes: inputTokens, maxOutputTokens, price } = request;
  const outputTokens = maxOutputTokens ?? 0;
  // Where nothing bounds an answer that costs money, there is no worst case: 0 would say that it is free.
  const isOpen = maxOutputTokens === null && price !== null && price.output > 0;
  const usd = isOpen ? null : toCostUsd({ ...UNKNOWN_USAGE, inputTokens, outputTokens }, price);
  return { tokens: inputTokens + outputTokens, usd };
}
