/** Where one request of a run stands, as its scheduler sees it. */
export type RequestStand = {
  /** `waiting` = its tasks may not start yet; `failed` = they never will. */
  readonly preparation: 'waiting' | 'done' | 'failed';
  /** Tasks that have not been started. */
  readonly pending: number;
  /** Tasks that run. */
  readonly active: number;
};

/**
 * The request that is to be prepared now, or null. In declaration order, and one at a time: a request when every
 * earlier one is prepared (or has failed) and fewer of their tasks are pending than the run has places.
 */
export function findNextToPrepare(requests: readonly RequestStand[], taskConcurrency: number): number | null {
  const index = requests.findIndex(({ preparation }) => preparation === 'waiting');
  if (index === -1) return null;
  return countPending(requests.slice(0, index)) < taskConcurrency ? index : null;
}

const countPending = (requests: readonly RequestStand[]): number =>
  requests.reduce((sum, { preparation, pending }) => sum + (preparation === 'failed' ? 0 : pending), 0);

/**
 * Requests that are final, by index: none of their tasks is pending or runs, and every earlier request has nothing
 * left to start. An earlier one may still run.
 */
export function listFinal(requests: readonly RequestStand[]): readonly number[] {
  const open = requests.findIndex(hasTasksToStart);
  const started = open === -1 ? requests : requests.slice(0, open);
  return [...started.entries()].flatMap(([index, { active }]) => (active === 0 ? [index] : []));
}

const hasTasksToStart = ({ preparation, pending }: RequestStand): boolean =>
  preparation === 'waiting' || (preparation === 'done' && pending > 0);
