import type { CaseChange, ComparedPair } from './comparison-schema.ts';
import { toCostText, toDurationText, toScoreText } from './figure-text.ts';
import { toPrintable } from './terminal-text.ts';

/** What every form of a comparison says in the same words. Texts of others are printable, and not escaped. */

/** Cases that are listed for a pair; the rest is counted. */
export const SHOWN_CHANGES = 10;

export const NOTHING_TO_COMPARE = 'Nothing to compare: no model stands on both sides.';

/** Request, and what is set against what. */
export function nameSides({ first, second }: ComparedPair): string {
  const isOneRun = first.runId === second.runId;
  const before = isOneRun ? first.modelId : first.runId;
  const after = isOneRun ? second.modelId : second.runId;
  const model = isOneRun
    ? ''
    : first.modelId === second.modelId
      ? ` / ${first.modelId}`
      : ` / ${first.modelId}, ${second.modelId}`;
  return toPrintable(`${first.requestName}${model}: ${before} → ${after}`);
}

/** `0.82 → 0.74 (−0.08 [−0.15, −0.01])`. */
export function describeDifference({ first, second, difference, interval }: ComparedPair): string {
  if (first.mean === null || second.mean === null || difference === null) return 'no shared case';
  const range = interval === null ? '' : ` [${toSigned(interval.low)}, ${toSigned(interval.high)}]`;
  return `${toScoreText(first.mean)} → ${toScoreText(second.mean)} (${toSigned(difference)}${range})`;
}

/** Two digits, never a 0 for what is not: `−0.004`. */
function toSigned(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && size < 0.005 ? size.toPrecision(1) : size.toFixed(2);
  return `${value < 0 ? '−' : '+'}${text}`;
}

/** The verdict in words, with what it rests on. */
export function describeVerdict(pair: ComparedPair): string {
  if (pair.verdict === 'nothing_shared' || pair.adjustedP === null)
    return 'nothing to compare: no case has a score on both sides';
  const test = pair.method === 'mcnemar' ? 'exact McNemar' : 'permutation';
  const basis = `${toPText(pair.adjustedP)}, ${test}`;
  if (pair.verdict !== 'not_separated') return `${pair.verdict} (${basis})`;
  const settle =
    pair.casesNeeded === null
      ? ''
      : `; about ${pair.casesNeeded} cases would settle a difference of this size`;
  return `not separated (${basis})${settle}`;
}

/** `p = 0.012`, `p < 0.001`. */
export const toPText = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);

export function describeCounts(pair: ComparedPair): string {
  const { cases, clusters, better, worse, equal, onlyFirst, onlySecond } = pair;
  const apart = clusters === cases ? '' : ` in ${clusters} clusters`;
  const left = [
    onlyFirst > 0 ? `${onlyFirst} only in the first` : '',
    onlySecond > 0 ? `${onlySecond} only in the second` : '',
  ].filter((text) => text !== '');
  const counts = `${cases} shared ${cases === 1 ? 'case' : 'cases'}${apart}: ${better} better, ${worse} worse, ${equal} equal`;
  return [counts, ...(left.length === 0 ? [] : [`left out: ${left.join(', ')}`])].join('; ');
}

/** Cost and time of an attempt on both sides; null when neither is known. */
export function describeTaken({ first, second }: ComparedPair): string | null {
  const cost =
    first.attemptCostUsd === null && second.attemptCostUsd === null
      ? []
      : [`cost of an attempt ${toCostText(first.attemptCostUsd)} → ${toCostText(second.attemptCostUsd)}`];
  const time =
    first.latencyP50Ms === null || second.latencyP50Ms === null
      ? []
      : [`latency p50 ${toDurationText(first.latencyP50Ms)} → ${toDurationText(second.latencyP50Ms)}`];
  return cost.length + time.length === 0 ? null : [...cost, ...time].join(', ');
}

/** Kind, case, scores, and why. */
export const describeChange = ({
  kind,
  caseId,
  first,
  second,
  explanation,
}: CaseChange): {
  readonly head: string;
  readonly explanation: string | null;
} => ({
  head: `${kind}  ${toPrintable(caseId)}  ${toScoreText(first)} → ${toScoreText(second)}`,
  explanation: explanation === null ? null : toPrintable(explanation).slice(0, 200).toWellFormed(),
});
