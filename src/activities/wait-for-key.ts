import type { Dependencies } from './dependencies.ts';
import { comeBack } from './failure.ts';

const KEY_WAIT_MS = 5_000;

/** Throws `ComeBack` when this worker lacks one of these keys: asked before anything is counted, sent or started. */
export function waitForKeys(
  { readKey }: Pick<Dependencies, 'readKey'>,
  names: readonly (string | null)[],
): void {
  const missing = names.find((name) => name !== null && readKey(name) === null);
  if (missing !== undefined)
    throw comeBack(KEY_WAIT_MS, `Waiting for ${missing}, which this worker has not.`);
}
