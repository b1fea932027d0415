import { setTimeout as sleep } from 'node:timers/promises';
import { listArtifacts } from '../../src/store/artifacts.ts';
import { IMAGE } from '../environments/docker-subject.ts';
import type { Place } from '../workflows/long-agent.ts';
import { bash, begin, loadCells, script, sums, workflowOf } from '../workflows/support.ts';

export type ArtifactRun = {
  readonly kind: string;
  readonly megabytes: number;
  /** The store has a file of that size. */
  readonly kept: boolean;
  /** 1 = the grader found the whole file in its own session. */
  readonly score: number | null;
  readonly seconds: number;
  /** Memory of the worker before the run, and the most that was seen during it. */
  readonly beforeMb: number;
  readonly highestMb: number;
};

const LOOK_EVERY_MS = 50;

/** An agent leaves one large file that is like no other; it is kept, and graded in a fresh session. */
export async function runArtifact(
  place: Place,
  work: { readonly kind: string; readonly megabytes: number; readonly measure: () => number },
): Promise<ArtifactRun> {
  const { kind, megabytes, measure } = work;
  const bytes = megabytes * 1_000_000;
  const beforeMb = measure();
  const startedMs = performance.now();
  const runId = await begin(place, {
    models: [script([bash(`head -c ${bytes} /dev/urandom > big`), { say: 'done' }])],
    suite: {
      ...sums(1),
      scorers: [{ kind: 'command', command: `test "$(wc -c < big)" -eq ${bytes}` }],
    },
    harness: { kind: 'agent', maxSteps: 3 },
    environment: kind === 'docker' ? { kind, image: IMAGE } : kind,
    evaluation: 'fresh',
  });
  let isOver = false;
  const ending = workflowOf(place, runId)
    .result()
    .finally(() => (isOver = true));
  let highestMb = beforeMb;
  while (!isOver) {
    highestMb = Math.max(highestMb, measure());
    await sleep(LOOK_EVERY_MS);
  }
  await ending;
  const [cell] = await loadCells(place, runId);
  const key = { runId, task: 1, attempt: 1, generation: 1 };
  const artifacts = await listArtifacts(place.db, { key, tryNumber: 1 });
  return {
    kind,
    megabytes,
    kept: artifacts.some((one) => one.path === 'big' && one.bytes === bytes),
    score: cell?.score ?? null,
    seconds: (performance.now() - startedMs) / 1_000,
    beforeMb,
    highestMb,
  };
}
