import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '../domain/outcome.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import { loadProgress } from '../store/progress.ts';
import { loadRun } from '../store/runs.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';
import type { RunProgress } from './progress.ts';

export type Watched = {
  readonly runId: string;
  /** The end of an earlier generation is not the end that is waited for; 1 = any. */
  readonly generation: number;
};

export type WatchOptions = {
  /** Ends the watch without an error. */
  readonly signal: AbortSignal;
  /** Time between two looks; a slow store is asked less often. */
  readonly pollMs: number;
  /** Told once that the store cannot be asked, and null when it can again. */
  readonly onTrouble: (message: string | null) => void;
};

/** After so long without a row, its workflow is asked whether one will come. */
const ABSENT_MS = 3_000;

/**
 * The progress of a run, again and again, until it has ended; the last one is of its final state. A store that
 * cannot be asked is waited for. Throws a ClientError when the run's workflow ended without leaving a run.
 */
export async function* watchRun(
  connection: AssayConnection,
  watched: Watched,
  options: WatchOptions,
): AsyncGenerator<RunProgress, void> {
  let lastSeenMs = performance.now();
  let troubled = false;
  while (!options.signal.aborted) {
    const askedMs = performance.now();
    const looked = await look(connection, watched);
    if (troubled !== (looked.kind === 'trouble')) {
      troubled = looked.kind === 'trouble';
      options.onTrouble(looked.kind === 'trouble' ? looked.message : null);
    }
    if (looked.kind === 'seen') {
      lastSeenMs = askedMs;
      yield looked.progress;
      if (isTerminal(looked.progress.state)) return;
    } else if (looked.kind === 'awaited' && askedMs - lastSeenMs > ABSENT_MS) {
      lastSeenMs = askedMs;
      if ((await findClosed(connection, watched, looked.progress)) !== null) return;
    }
    const tookMs = performance.now() - askedMs;
    await sleep(Math.max(options.pollMs, 5 * tookMs), undefined, { signal: options.signal }).catch(
      () => undefined,
    );
  }
}

type Look =
  | { readonly kind: 'seen'; readonly progress: RunProgress }
  /** No row yet, or only one of an earlier generation. */
  | { readonly kind: 'awaited'; readonly progress: RunProgress | null }
  | { readonly kind: 'trouble'; readonly message: string };

async function look({ db }: AssayConnection, { runId, generation }: Watched): Promise<Look> {
  try {
    const [progress, run] = await Promise.all([loadProgress(db, runId), loadRun(db, runId)]);
    if (progress === null || run === null) return { kind: 'awaited', progress: null };
    const seen = { ...progress, startedAt: run.startedAt, finishedAt: run.finishedAt };
    return { kind: progress.generation < generation ? 'awaited' : 'seen', progress: seen };
  } catch (error) {
    return { kind: 'trouble', message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Null while a run's workflow is open and waits for a worker. One that closed without opening its generation
 * has left the run as it was; one that left no run at all is a fault.
 */
async function findClosed(
  connection: AssayConnection,
  { runId }: Watched,
  progress: RunProgress | null,
): Promise<'closed' | null> {
  const client = await connection.temporal();
  const workflowId = toRunWorkflowId(runId);
  const described = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch(() => null);
  if (described === null || described.status.name === 'RUNNING') return null;
  if (progress !== null) return 'closed';
  throw new ClientError(
    `Run ${runId} ended as ${described.status.name.toLowerCase()} before it left anything in the store; ` +
      `workflow ${workflowId} in the Temporal UI and the worker's log say why.`,
  );
}
