import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** When the worker with this pid said that it polls, in milliseconds since 1970. Throws the signal's reason. */
export async function waitForPolling(
  dataDir: string,
  { pid, signal }: { readonly pid: number; readonly signal: AbortSignal },
): Promise<number> {
  for (;;) {
    const line = readFileSync(join(dataDir, 'logs', 'worker.log'), 'utf8')
      .split('\n')
      .find((text) => text.includes(`"pid":${pid},`) && text.includes('"msg":"the worker polls"'));
    if (line !== undefined) return (JSON.parse(line) as { time: number }).time;
    signal.throwIfAborted();
    await sleep(100);
  }
}
