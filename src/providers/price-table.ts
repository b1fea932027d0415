import type { Price } from '../domain/usage.ts';
import { ANTHROPIC_PRICES } from './prices-anthropic.ts';
import { GOOGLE_PRICES } from './prices-google.ts';
import { OPENAI_PRICES } from './prices-openai.ts';

/** A model's price in USD per million tokens, and its limits in tokens; null = not known. */
export type PriceRow = {
  readonly model: string;
  /** Other names of the same model at the same price. */
  readonly aliases?: readonly string[];
  readonly price: Price | null;
  /** Last day of this price, `YYYY-MM-DD`; after it the price is not known. */
  readonly until?: string;
  readonly contextTokens: number | null;
  readonly maxOutputTokens: number | null;
};

export type PriceTable = {
  /** The kind of provider. */
  readonly kind: string;
  /** Day on which these prices were last compared with the source, `YYYY-MM-DD`. */
  readonly date: string;
  /** The provider's own page. */
  readonly source: string;
  readonly rows: readonly PriceRow[];
};

export const PRICE_TABLES: readonly PriceTable[] = [OPENAI_PRICES, ANTHROPIC_PRICES, GOOGLE_PRICES];
