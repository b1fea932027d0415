/** A database that cannot be used as it is; the message says why and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

const thrown = new WeakSet<object>();

/** Lets errors of the database be told from those of everything else that a step touches. */
export function rememberStoreError(error: unknown): never {
  if (typeof error === 'object' && error !== null) thrown.add(error);
  throw error;
}

/** Whether a query threw it, or the connection that it needed. */
export const isStoreError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && thrown.has(error);
