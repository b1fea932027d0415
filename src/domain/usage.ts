/** Tokens of one call or a sum of calls. `null` means that the provider did not say; never guessed. */
export type Usage = {
  readonly inputTokens: number | null;
  /** All output, reasoning included. */
  readonly outputTokens: number | null;
  /** Part of `outputTokens` that was reasoning. */
  readonly reasoningTokens: number | null;
  /** Part of `inputTokens` read from the provider's cache. */
  readonly cacheReadTokens: number | null;
  /** Part of `inputTokens` written to the provider's cache. */
  readonly cacheWriteTokens: number | null;
};

/** Rates in USD per million tokens. */
export type Rates = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
};

/** Price card in USD per million tokens. */
export type Price = Rates & {
  /** Other rates for a whole call whose input is longer; null = they are not known. */
  readonly long?: { readonly aboveInputTokens: number; readonly rates: Rates | null };
};

export const UNKNOWN_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
};

/** Sum of two figures of which either may be unknown: unknown only when both are. */
export const addKnown = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : a + b;

export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: addKnown(a.inputTokens, b.inputTokens),
  outputTokens: addKnown(a.outputTokens, b.outputTokens),
  reasoningTokens: addKnown(a.reasoningTokens, b.reasoningTokens),
  cacheReadTokens: addKnown(a.cacheReadTokens, b.cacheReadTokens),
  cacheWriteTokens: addKnown(a.cacheWriteTokens, b.cacheWriteTokens),
});

export const totalTokens = (usage: Usage): number | null => addKnown(usage.inputTokens, usage.outputTokens);

/**
 * Cost of one call in USD: each token class times its rate per million. Cached tokens are part of the input and are
 * charged at their own rate where the card has one, else at the input rate. `null` without price or usage,
 * but 0 where every rate is 0.
 */
export function toCostUsd(usage: Usage, price: Price | null): number | null {
  if (price === null) return null;
  if (isFree(price)) return 0;
  if (usage.inputTokens === null || usage.outputTokens === null) return null;
  const rates = toRates(price, usage.inputTokens);
  if (rates === null) return null;
  const read = usage.cacheReadTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const plain = Math.max(0, usage.inputTokens - read - written);
  const micro =
    plain * rates.input +
    read * (rates.cacheRead ?? rates.input) +
    written * (rates.cacheWrite ?? rates.input) +
    usage.outputTokens * rates.output;
  return micro / 1_000_000;
}

const toRates = (price: Price, inputTokens: number): Rates | null =>
  price.long !== undefined && inputTokens > price.long.aboveInputTokens ? price.long.rates : price;

/** A card for sums of many calls, whose input says nothing of the length of one. */
export const withoutLong = (price: Price | null): Price | null => {
  if (price === null) return null;
  const { long: _long, ...short } = price;
  return short;
};

const isFree = ({ input, output, cacheRead, cacheWrite, long }: Price): boolean =>
  long === undefined && [input, output, cacheRead, cacheWrite].every((rate) => rate === null || rate === 0);
