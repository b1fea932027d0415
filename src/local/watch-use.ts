import { setTimeout as sleep } from 'node:timers/promises';
import { listClients } from './clients.ts';
import { shouldStopIdle } from './idle-stop.ts';
import { endProcess, identifyProcess } from './process-identity.ts';
import { readStackFile } from './stack-file.ts';
import { stopIdleStack } from './stop-stack.ts';

/** What the worker of a stack hands in: `openRuns` is asked at each look, `drain` ends its polling. */
export type UseWatch = {
  readonly dataDir: string;
  readonly openRuns: () => Promise<number>;
  readonly drain: () => Promise<void>;
  readonly signal: AbortSignal;
  /** Between two looks; 10 s when not given. */
  readonly intervalMs?: number;
};

/**
 * Run by the worker of a stack: watches whether anybody uses it, and stops the other parts after 15 idle minutes.
 * Resolves when the worker has to end its process, drained already; rejects with the signal's reason.
 */
export async function watchUse({
  dataDir,
  openRuns,
  drain,
  signal,
  intervalMs = 10_000,
}: UseWatch): Promise<void> {
  const thisWorker = identifyProcess(process.pid);
  if (thisWorker === null) throw new Error('this process cannot be identified');
  const atStart = readStackFile(dataDir);
  let idleSinceMs: number | null = null;
  for (;;) {
    await sleep(intervalMs, undefined, { signal });
    const file = readStackFile(dataDir);
    const use = {
      idleSinceMs,
      // A store that cannot be asked at the moment is no reason to stop.
      openRuns: await openRuns().catch(() => 1),
      clients: listClients(dataDir).length,
      recordedWorker: file?.worker?.process ?? null,
      thisWorker,
    };
    const decision = shouldStopIdle(use, Date.now());
    if (decision.kind === 'go_on') {
      ({ idleSinceMs } = decision);
    } else if (decision.kind === 'stop_worker') {
      await drain();
      // With the folder removed nobody else knows the server; Postgres ends by itself when its files are gone.
      if (file === null) await endProcess(atStart?.temporal?.process, { signal: 'SIGTERM', graceMs: 15_000 });
      return;
    } else if (await stopIdleStack({ dataDir, isStillIdle: async () => (await openRuns()) === 0, drain })) {
      return;
    }
  }
}
