import type { Price } from '../domain/usage.ts';

/** A model's price in USD per million tokens, and its limits in tokens; null = not known. */
export type PriceRow = {
  readonly model: string;
  /** Other names of the same model at the same price. */
  readonly aliases?: readonly string[];
  readonly price: Price | null;
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
  /** Where this row was read, if not where the table was. */
  readonly source?: string;
};

export type PriceTable = {
  /** The kind of provider. */
  readonly kind: string;
  /** Day on which the source was read, `YYYY-MM-DD`. */
  readonly date: string;
  readonly source: string;
  readonly rows: readonly PriceRow[];
};

export const PRICE_TABLES: readonly PriceTable[] = [];
