/** Cells recorded at a moment; milliseconds on any clock that does not jump. */
export type DoneSample = { readonly atMs: number; readonly done: number };

/** Old enough to even out bursts, young enough to follow a change of pace. */
const WINDOW_MS = 60_000;

/** Adds a sample and drops those that the window has left behind, one of which stays as its edge. */
export function addSample(samples: readonly DoneSample[], sample: DoneSample): readonly DoneSample[] {
  const edge = samples.findLastIndex((one) => one.atMs <= sample.atMs - WINDOW_MS);
  const kept = samples.slice(Math.max(0, edge));
  const last = kept.at(-1);
  return last !== undefined && last.done === sample.done ? kept : [...kept, sample];
}

/** Time that the rest will take at the pace of the window; null while there is no pace to go by. */
export function estimateRemainingMs(
  samples: readonly DoneSample[],
  now: { readonly atMs: number; readonly remaining: number },
): number | null {
  const [first] = samples;
  const last = samples.at(-1);
  if (now.remaining <= 0) return 0;
  if (first === undefined || last === undefined || last.done <= first.done) return null;
  const spanMs = now.atMs - first.atMs;
  return spanMs <= 0 ? null : (spanMs / (last.done - first.done)) * now.remaining;
}

/** As `estimateRemainingMs`, at the pace since the run was started: for a display that has just been opened. */
export const estimateBySoFarMs = (
  done: number,
  now: { readonly elapsedMs: number | null; readonly remaining: number },
): number | null =>
  now.remaining <= 0
    ? 0
    : done === 0 || now.elapsedMs === null
      ? null
      : (now.elapsedMs / done) * now.remaining;
