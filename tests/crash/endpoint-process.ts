import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** One line of the endpoint's log; `call` is `model/case/step`. */
export type EndpointEvent = {
  readonly number: number;
  readonly call: string;
  readonly event: 'asked' | 'answered';
  readonly atMs: number;
};

/** A model API that survives every kill, with its log. */
export type Endpoint = {
  readonly baseUrl: string;
  readonly events: () => readonly EndpointEvent[];
  /** Waits for that many requests in all; false when `signal` comes first. */
  readonly waitForRequests: (count: number, signal: AbortSignal) => Promise<boolean>;
  readonly stop: () => Promise<void>;
};

const PROGRAM = fileURLToPath(new URL('endpoint.ts', import.meta.url));

/** Starts the endpoint; it answers after a time between the two of `latencyMs`, and ends with this process. */
export async function startEndpoint(
  logFile: string,
  latencyMs: readonly [number, number],
): Promise<Endpoint> {
  writeFileSync(logFile, '');
  const child = spawn(process.execPath, [PROGRAM, logFile, ...latencyMs.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const port = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const events = (): EndpointEvent[] =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as EndpointEvent);
  return {
    baseUrl: `http://127.0.0.1:${port.value}/v1`,
    events,
    waitForRequests: async (count, signal) => {
      while (!signal.aborted) {
        if (events().filter(({ event }) => event === 'asked').length >= count) return true;
        await sleep(10);
      }
      return false;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
