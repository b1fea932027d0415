/** Money and tokens of one request; `usd` null = no price is known. */
export type Amount = { readonly usd: number | null; readonly tokens: number };

/** One cap with what is spent and what is held for calls that are out. */
export type Scope = {
  readonly capUsd: number | null;
  readonly capTokens: number | null;
  readonly spentUsd: number;
  readonly spentTokens: number;
  readonly reservedUsd: number;
  readonly reservedTokens: number;
  readonly openCalls: number;
  /** A call was let through that does not fit (`onExceed: warn`). */
  readonly exceeded: boolean;
  /** Nothing more is granted here. */
  readonly stopped: boolean;
};

export const createScope = (caps: {
  readonly capUsd: number | null;
  readonly capTokens: number | null;
}): Scope => ({
  ...caps,
  spentUsd: 0,
  spentTokens: 0,
  reservedUsd: 0,
  reservedTokens: 0,
  openCalls: 0,
  exceeded: false,
  stopped: false,
});

export type Refusal = {
  readonly kind: 'wait' | 'over';
  readonly cap: number;
  readonly needed: number;
  readonly unit: 'usd' | 'tokens';
};

/**
 * Why a call does not fit: `wait` while others hold something that they may give back, `over` when none does. An
 * external agent's process, whose requests are calls of their own, is open and holds nothing. Null = it fits.
 */
export function findRefusal(scope: Scope, worst: Amount): Refusal | null {
  const usd = worst.usd ?? 0;
  const overUsd = scope.capUsd !== null && scope.spentUsd + scope.reservedUsd + usd > scope.capUsd;
  const overTokens =
    scope.capTokens !== null && scope.spentTokens + scope.reservedTokens + worst.tokens > scope.capTokens;
  if (!overUsd && !overTokens && !scope.stopped) return null;
  const kind = scope.reservedTokens > 0 && !scope.stopped ? 'wait' : 'over';
  if (scope.capTokens !== null && !overUsd) {
    return { kind, cap: scope.capTokens, needed: scope.spentTokens + worst.tokens, unit: 'tokens' };
  }
  return { kind, cap: scope.capUsd ?? 0, needed: scope.spentUsd + usd, unit: 'usd' };
}

/** Holds a call's worst case; marks the scope when the call could not fit even with nothing else open. */
export function reserve(scope: Scope, worst: Amount): Scope {
  const usd = worst.usd ?? 0;
  const passes =
    (scope.capUsd !== null && scope.spentUsd + usd > scope.capUsd) ||
    (scope.capTokens !== null && scope.spentTokens + worst.tokens > scope.capTokens);
  return {
    ...scope,
    reservedUsd: scope.reservedUsd + usd,
    reservedTokens: scope.reservedTokens + worst.tokens,
    openCalls: scope.openCalls + 1,
    exceeded: scope.exceeded || passes,
  };
}

/** Gives back what was held for a call and books what it is charged. */
export const settle = (scope: Scope, worst: Amount, charged: Amount): Scope => ({
  ...scope,
  reservedUsd: scope.reservedUsd - (worst.usd ?? 0),
  reservedTokens: scope.reservedTokens - worst.tokens,
  spentUsd: scope.spentUsd + (charged.usd ?? 0),
  spentTokens: scope.spentTokens + charged.tokens,
  openCalls: scope.openCalls - 1,
});

/** Replaces a charge by another, when the truth about a lost call comes late. */
export const correct = (scope: Scope, before: Amount, after: Amount): Scope => ({
  ...scope,
  spentUsd: scope.spentUsd + (before.usd === null || after.usd === null ? 0 : after.usd - before.usd),
  spentTokens: scope.spentTokens + after.tokens - before.tokens,
});
