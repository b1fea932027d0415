import type { Price } from '../domain/usage.ts';
import { ANTHROPIC_PRICES } from './prices-anthropic.ts';
import { GOOGLE_PRICES } from './prices-google.ts';
import { OPENAI_PRICES } from './prices-openai.ts';

/** A text in which figures stand: its address, and a day than which it is no older. */
export type PriceText = {
  readonly source: string;
  /** `YYYY-MM-DD`: the day that the text bears; else the day of the newest thing that it mentions. */
  readonly date: string;
};

/**
 * A model's price in USD per million tokens and the longest answer it gives, in tokens; null = no text says it.
 * `source` shows the price of input and output. A rate or limit that it does not show stands in one of `also`.
 */
export type PriceRow = PriceText & {
  readonly model: string;
  /** Other names of the same model at the same price. */
  readonly aliases?: readonly string[];
  readonly price: Price | null;
  readonly also?: readonly string[];
  /** Last day of this price, `YYYY-MM-DD`; after it the price is not known. */
  readonly until?: string;
  readonly maxOutputTokens: number | null;
};

export type PriceTable = {
  /** The kind of provider. */
  readonly kind: string;
  /** Day on which the texts were looked up, `YYYY-MM-DD`. */
  readonly read: string;
  /** Hosts of the provider itself: a text from elsewhere is a third party's. */
  readonly hosts: readonly string[];
  readonly rows: readonly PriceRow[];
};

export const PRICE_TABLES: readonly PriceTable[] = [OPENAI_PRICES, ANTHROPIC_PRICES, GOOGLE_PRICES];
