type Order = { readonly state: string; readonly parcel: string | null };

const ORDERS: ReadonlyMap<number, Order> = new Map([
  [1001, { state: 'sent', parcel: 'ZX-77' }],
  [1002, { state: 'being packed', parcel: null }],
]);

/** Stands for the shop's own service; imported by path, so it is part of the bundle. */
export const findOrder = (number: number): Order | null => ORDERS.get(number) ?? null;
