/** Percentile by linear interpolation between the closest ranks (Hyndman and Fan 1996, type 7); null without values. */
export function toPercentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) return null;
  return below + (above - below) * (place - Math.floor(place));
}
