import type { JsonObject } from '../domain/json.ts';
import type { Price } from '../domain/usage.ts';
import { isFields } from './fields.ts';
import { PRICE_TABLES } from './price-table.ts';
import type { PriceRow, PriceTable } from './price-table.ts';

export type KnownModel = {
  /** Name of the row, and the texts that it comes from. */
  readonly card: {
    readonly model: string;
    readonly date: string;
    readonly source: string;
    readonly also: readonly string[];
    readonly vendor: boolean;
  };
  readonly price: Price | null;
  readonly maxOutputTokens: number | null;
};

export type PricedModel = {
  readonly kind: string;
  readonly model: string;
  readonly params: JsonObject;
  /** Epoch milliseconds: a price may have an end. */
  readonly now: number;
};

/**
 * The row for a model of a kind, or null. A name is a row's own, one of its `aliases`, or the row's name with
 * a date behind it (`-20250929`, `-2025-08-07`): providers name snapshots so, at the price of their family.
 * Nothing else is taken for a family: `gpt-5-mini` is no `gpt-5`. Parameters that change what a call costs
 * leave the price unknown.
 */
export function findKnownModel({ kind, model, params, now }: PricedModel): KnownModel | null {
  for (const table of PRICE_TABLES.filter((one) => one.kind === kind)) {
    const { rows } = table;
    const row = rows.find((one) => one.model === model) ?? rows.find((one) => isNamed(one, model));
    if (row === undefined) continue;
    const holds = !isOver(row, now) && isStandard(params);
    return {
      card: {
        model: row.model,
        date: row.date,
        source: row.source,
        also: row.also ?? [],
        vendor: isVendor(table, row),
      },
      price: holds ? row.price : null,
      maxOutputTokens: row.maxOutputTokens,
    };
  }
  return null;
}

const isOver = ({ until }: PriceRow, now: number): boolean =>
  until !== undefined && now > Date.parse(`${until}T23:59:59Z`);

const SNAPSHOT = /^-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

function isNamed(row: PriceRow, model: string): boolean {
  const names = [row.model, ...(row.aliases ?? [])];
  return names.some(
    (name) => model === name || (model.startsWith(name) && SNAPSHOT.test(model.slice(name.length))),
  );
}

/** Service classes, speeds and places that providers charge otherwise. */
const PRICED_FIELDS: readonly string[] = ['service_tier', 'serviceTier', 'speed', 'inference_geo'];

function isStandard(params: JsonObject): boolean {
  const { serviceTier, extraBody } = params;
  if (serviceTier === 'flex' || serviceTier === 'priority') return false;
  return !isFields(extraBody) || !PRICED_FIELDS.some((name) => Object.hasOwn(extraBody, name));
}

const isVendor = ({ hosts }: PriceTable, { source }: PriceRow): boolean =>
  hosts.includes(new URL(source).hostname);

const DAY_MS = 24 * 3_600_000;

export type PriceAge = {
  readonly kind: string;
  /** Prices that hold now. */
  readonly prices: number;
  /** Those of them whose text is a third party's. */
  readonly thirdParty: number;
  /** The day of the oldest text of them, `YYYY-MM-DD`. */
  readonly oldest: string;
  /** Day on which the texts were looked up, and days since then. */
  readonly read: string;
  readonly days: number;
};

/** How old the table of each kind is, and on what it rests; `now` in epoch milliseconds. */
export const listPriceAges = (now: number): readonly PriceAge[] =>
  PRICE_TABLES.map((table) => {
    const rows = table.rows.filter((row) => row.price !== null && !isOver(row, now));
    return {
      kind: table.kind,
      prices: rows.length,
      thirdParty: rows.filter((row) => !isVendor(table, row)).length,
      oldest: rows.map(({ date }) => date).toSorted()[0] ?? table.read,
      read: table.read,
      days: Math.floor((now - Date.parse(`${table.read}T00:00:00Z`)) / DAY_MS),
    };
  });
