import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 250;
const PAGE_BYTES = 4096;
/** Memory outside the heap (buffers, the program itself) that is allowed beside it. */
const BESIDE_HEAP_MIB = 512;

/**
 * Ends a process whose memory outside the heap grows without end: the heap has its own limit, buffers have none.
 * Looks where there is a `/proc` only.
 */
export function watchMemory(
  pid: number,
  heapMiB: number,
): { readonly exceeded: () => string | null; readonly stop: () => void } {
  const limitMiB = heapMiB + BESIDE_HEAP_MIB;
  let message: string | null = null;
  const timer = setInterval(() => {
    const usedMiB = readResidentMiB(pid);
    if (usedMiB === null || usedMiB <= limitMiB) return;
    message = `it used ${Math.round(usedMiB)} MiB of memory, its limit is ${limitMiB} MiB with buffers, and was ended`;
    process.kill(pid, 'SIGKILL');
    clearInterval(timer);
  }, LOOK_EVERY_MS);
  timer.unref();
  return { exceeded: () => message, stop: () => clearInterval(timer) };
}

function readResidentMiB(pid: number): number | null {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
    return (pages * PAGE_BYTES) / (1024 * 1024);
  } catch {
    return null;
  }
}
