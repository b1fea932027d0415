import { PACK_PLACES, type Pack } from './pack-tasks.ts';

/**
 * The run's window of places (running attempts): how many a workflow gets when it starts, when
 * it is worth starting one, and who gets places that are left over at the tail.
 */

/** A workflow that holds places. */
export type Holder = {
  readonly id: string;
  /** Attempts that it carries. */
  readonly attempts: number;
  /** Places granted in all, given back ones included; never above `attempts`. */
  readonly granted: number;
  /** Places that it holds now. */
  readonly held: number;
  /** It has given nothing back yet, so it may still have attempts to start. */
  readonly busy: boolean;
};

/** Places that a pack may use at once, were all of them free. */
export function wantedPlaces(pack: Pack, strategy: 'avg' | 'pass'): number {
  const parallel = strategy === 'pass' ? pack.tasks.length : pack.attempts;
  return Math.min(PACK_PLACES, parallel);
}

/**
 * Places to start a pack with, or 0 to wait. A pack does not start on crumbs while others hold places:
 * it would run through its tasks nearly one by one.
 */
export function placesToStart(want: number, free: number, taskConcurrency: number): number {
  const crumbs = Math.min(8, Math.ceil(taskConcurrency / 8), want);
  return free >= crumbs ? Math.min(want, free) : 0;
}

/**
 * Takes places back until at most as many are held as there may be: from those that hold most, so that each that
 * still has attempts to start keeps one as long as possible. Attempts that run go on.
 */
export function takeBack(
  holders: readonly Holder[],
  excess: number,
): readonly { readonly id: string; readonly places: number }[] {
  const held = new Map(holders.filter(({ busy }) => busy).map(({ id, held }) => [id, held]));
  const taken = new Map<string, number>();
  for (let left = excess; left > 0; left -= 1) {
    const [most] = [...held].toSorted(([, a], [, b]) => b - a);
    if (most === undefined || most[1] === 0) break;
    held.set(most[0], most[1] - 1);
    taken.set(most[0], (taken.get(most[0]) ?? 0) + 1);
  }
  return [...taken].map(([id, places]) => ({ id, places }));
}

/** Spreads free places over open workflows that could still use some, first come first served. */
export function grantLeftOver(
  holders: readonly Holder[],
  free: number,
): readonly { readonly id: string; readonly places: number }[] {
  const grants: { id: string; places: number }[] = [];
  for (const holder of holders) {
    if (free <= 0) break;
    if (!holder.busy) continue;
    const places = Math.min(free, holder.attempts - holder.granted, PACK_PLACES - holder.held);
    if (places <= 0) continue;
    grants.push({ id: holder.id, places });
    free -= places;
  }
  return grants;
}
