import type { JsonObject } from '../domain/json.ts';
import type { Price } from '../domain/usage.ts';
import { isFields } from './fields.ts';
import { PRICE_TABLES } from './price-table.ts';
import type { PriceRow } from './price-table.ts';

export type KnownModel = {
  /** Name of the row, the day and the page where it was read. */
  readonly card: { readonly model: string; readonly date: string; readonly source: string };
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
  for (const { date, source, rows } of PRICE_TABLES.filter((one) => one.kind === kind)) {
    const row = rows.find((one) => one.model === model) ?? rows.find((one) => isNamed(one, model));
    if (row === undefined) continue;
    const holds =
      (row.until === undefined || now <= Date.parse(`${row.until}T23:59:59Z`)) && isStandard(params);
    return {
      card: { model: row.model, date, source },
      price: holds ? row.price : null,
      maxOutputTokens: row.maxOutputTokens,
    };
  }
  return null;
}

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

const DAY_MS = 24 * 3_600_000;

/** How old the table of each kind is, in days. */
export const listPriceAges = (
  now: number,
): readonly { readonly kind: string; readonly date: string; readonly days: number }[] =>
  PRICE_TABLES.map(({ kind, date }) => ({
    kind,
    date,
    days: Math.floor((now - Date.parse(`${date}T00:00:00Z`)) / DAY_MS),
  }));
