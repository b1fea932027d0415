import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '../domain/outcome.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import { loadProgress } from '../store/progress.ts';
import { loadRun } from '../store/runs.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';
import type { RunProgress } from './progress.ts';

export type WatchOptions = {
  /** Ends the watch without an error. */
  readonly signal: AbortSignal;
  /** Time between two looks; a slow store is asked less often. */
  readonly pollMs: number;
  /** Told once that the store cannot be asked, and null when it can again. */
  readonly onTrouble: (message: string | null) => void;
};

const ABSENT_MS = 3_000;

/**
 * The progress of a run, again and again, until it has ended; the last one is of its final state. A store that
 * cannot be asked is waited for. Throws a ClientError when the run's workflow ended without leaving a run.
 */
export async function* watchRun(
  connection: AssayConnection,
  runId: string,
  options: WatchOptions,
): AsyncGenerator<RunProgress, void> {
  let absentSinceMs: number | null = null;
  let troubled = false;
  while (!options.signal.aborted) {
    const askedMs = performance.now();
    const looked = await look(connection, runId);
    if (troubled !== (looked.kind === 'trouble')) {
      troubled = looked.kind === 'trouble';
      options.onTrouble(looked.kind === 'trouble' ? looked.message : null);
    }
    if (looked.kind === 'absent') {
      absentSinceMs ??= askedMs;
      if (askedMs - absentSinceMs > ABSENT_MS) {
        await assertOpen(connection, runId);
        absentSinceMs = askedMs;
      }
    }
    if (looked.kind === 'seen') {
      yield looked.progress;
      if (isTerminal(looked.progress.state)) return;
    }
    const tookMs = performance.now() - askedMs;
    await sleep(Math.max(options.pollMs, 5 * tookMs), undefined, { signal: options.signal }).catch(
      () => undefined,
    );
  }
}

type Look =
  | { readonly kind: 'seen'; readonly progress: RunProgress }
  | { readonly kind: 'absent' }
  | { readonly kind: 'trouble'; readonly message: string };

async function look({ db }: AssayConnection, runId: string): Promise<Look> {
  try {
    const [progress, run] = await Promise.all([loadProgress(db, runId), loadRun(db, runId)]);
    if (progress === null || run === null) return { kind: 'absent' };
    return { kind: 'seen', progress: { ...progress, startedAt: run.startedAt, finishedAt: run.finishedAt } };
  } catch (error) {
    return { kind: 'trouble', message: error instanceof Error ? error.message : String(error) };
  }
}

/** A workflow that was started but has no row yet waits for a worker; one that closed never gets one. */
async function assertOpen(connection: AssayConnection, runId: string): Promise<void> {
  const client = await connection.temporal();
  const described = await client.workflow
    .getHandle(toRunWorkflowId(runId))
    .describe()
    .catch(() => null);
  if (described === null || described.status.name === 'RUNNING') return;
  throw new ClientError(
    `Run ${runId} ended as ${described.status.name.toLowerCase()} before it left anything in the store. ` +
      `Its workflow is ${described.workflowId}; the worker's log says why.`,
  );
}
