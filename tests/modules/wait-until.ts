import { setTimeout as sleep } from 'node:timers/promises';

/** Awaits what another process does. */
export async function waitUntil(what: string, check: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await sleep(20);
  }
}
