import type { Price } from '../domain/usage.ts';
import { PRICE_TABLES } from './price-table.ts';
import type { PriceRow } from './price-table.ts';

export type KnownModel = {
  readonly card: { readonly model: string; readonly date: string; readonly source: string };
  readonly price: Price | null;
  readonly maxOutputTokens: number | null;
  readonly contextTokens: number | null;
};

/**
 * The row for a model of a kind, or null. A name is a row's own, one of its `aliases`, or the row's name with
 * a date behind it (`-20250929`, `-2025-08-07`): providers name snapshots so, at the price of their family.
 * Nothing else is taken for a family: `gpt-5-mini` is no `gpt-5`.
 */
export function findKnownModel(kind: string, model: string): KnownModel | null {
  for (const table of PRICE_TABLES.filter((one) => one.kind === kind)) {
    const row = table.rows.find((one) => isNamed(one, model));
    if (row === undefined) continue;
    const { maxOutputTokens, contextTokens, ...rest } = row;
    return {
      card: { model: row.model, date: table.date, source: row.source ?? table.source },
      price: rest.price,
      maxOutputTokens,
      contextTokens,
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
