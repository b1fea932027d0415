import { setTimeout as sleep } from 'node:timers/promises';
import { measureTree } from '../../bench/cpu.ts';
import { readStackFile } from '../../src/local/stack-file.ts';
import type { Workplace } from './workplace.ts';

/** Resident memory of worker and server at one moment, with their children; a part that does not run has 0. */
export type MemoryMark = {
  /** Since the first mark. */
  readonly seconds: number;
  /** Requests that the endpoint has got by then. */
  readonly requests: number;
  readonly workerMb: number;
  readonly temporalMb: number;
};

/** Looks at the stack's memory every `everyMs` until it is told to stop. */
export function watchMemory({ dataDir, endpoint }: Workplace, everyMs: number) {
  const marks: MemoryMark[] = [];
  const stopping = new AbortController();
  const startedMs = performance.now();
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const file = readStackFile(dataDir);
      const measure = (part: 'worker' | 'temporal'): number => {
        const pid = file?.[part]?.process?.pid;
        return pid === undefined ? 0 : measureTree(pid).memoryMb;
      };
      marks.push({
        seconds: (performance.now() - startedMs) / 1_000,
        requests: endpoint.countRequests(),
        workerMb: measure('worker'),
        temporalMb: measure('temporal'),
      });
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const looking = look();
  return {
    stop: async (): Promise<readonly MemoryMark[]> => {
      stopping.abort();
      await looking;
      return marks;
    },
  };
}
