import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** One line of the endpoint's log; `call` is `model/case/step`. */
export type EndpointEvent = {
  readonly number: number;
  readonly call: string;
  readonly event: 'asked' | 'answered' | 'billed';
  readonly atMs: number;
  /** Of what is billed. */
  readonly tokens?: number;
};

/** A model API that survives every kill, with its log. */
export type Endpoint = {
  readonly baseUrl: string;
  readonly events: () => readonly EndpointEvent[];
  readonly countRequests: () => number;
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
  const log = followLog(logFile);
  return {
    baseUrl: `http://127.0.0.1:${port.value}/v1`,
    events: log.events,
    countRequests: log.countAsked,
    waitForRequests: async (count, signal) => {
      while (!signal.aborted) {
        if (log.countAsked() >= count) return true;
        await sleep(10);
      }
      return false;
    },
    stop: async () => {
      child.kill('SIGKILL');
      await closed;
      log.close();
    },
  };
}

/** What a log holds so far; only what is new is read. */
function followLog(logFile: string) {
  const file = openSync(logFile, 'r');
  const found: EndpointEvent[] = [];
  let rest = '';
  let asked = 0;
  const read = (): void => {
    const chunk = Buffer.alloc(1 << 16);
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      const lines = (rest + chunk.toString('utf8', 0, size)).split('\n');
      rest = lines.pop() ?? '';
      found.push(...lines.map((line) => JSON.parse(line) as EndpointEvent));
      asked += lines.filter((line) => line.includes('"event":"asked"')).length;
    }
  };
  return {
    events: (): readonly EndpointEvent[] => (read(), [...found]),
    countAsked: (): number => (read(), asked),
    close: () => closeSync(file),
  };
}
