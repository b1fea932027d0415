import { recommendWidth, toPercent, WIDTH_RULE, type Curve } from './recommend-width.ts';
import type { WidthPoint } from './width-points.ts';
import { RATE_LIMIT, toIdealSeconds, WORKS, type Width } from './works.ts';

export type Machine = { readonly cores: number; readonly load: number };

/** What was measured at one provider. */
export type Measured = {
  readonly title: string;
  readonly curves: readonly Curve[];
  /** Null = nobody knows what the least is. */
  readonly toIdeal: ((suite: string, width: Width) => number) | null;
};

const HEAD = [
  'Width',
  'Runs',
  'Wall s, median',
  'quickest to slowest',
  'Least possible s',
  'Cells without a score',
  'Requests refused or failed',
  'USD a run',
];

/** The least of the simulated provider. */
export function toSimulatedIdeal(suite: string, width: Width): number {
  const work = WORKS.find(({ name }) => name === suite);
  return work === undefined ? 0 : toIdealSeconds(work, width);
}

export function formatCurve({ suite, points }: Curve, toIdeal: Measured['toIdeal']): string {
  const rows = points.map((point) => toRow(point, toIdeal === null ? null : toIdeal(suite, point.width)));
  return [HEAD, HEAD.map(() => '---:'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const toRow = (point: WidthPoint, ideal: number | null): readonly string[] => [
  String(point.width),
  String(point.repeats),
  point.medianSeconds.toFixed(1),
  `${point.lowSeconds.toFixed(1)} to ${point.highSeconds.toFixed(1)}`,
  ideal === null ? '-' : ideal.toFixed(1),
  `${toPercent(point.errorRate)} of ${point.cells}`,
  `${toPercent(point.retryRate)} of ${point.requests}`,
  point.costUsd === null ? 'unknown' : point.costUsd.toFixed(4),
];

/** What the curves say, in sentences. */
export function formatRecommendation(curves: readonly Curve[]): string {
  const whole = recommendWidth(curves);
  const parts = curves.map((curve) => `${curve.suite}: ${recommendWidth([curve]).width ?? 'none'}`);
  const refused = whole.refused.map(({ width, reason }) => `- ${width} is out: ${reason}`);
  const said =
    whole.width === null
      ? '**Recommended width: none.** No width keeps both rates.'
      : `**Recommended width: ${whole.width}** (for each suite alone: ${parts.join(', ')}; the quickest that is allowed: ${whole.best}).`;
  return [said, ...(refused.length === 0 ? [] : [refused.join('\n')])].join('\n\n');
}

/** docs/widths.md. */
export const formatPage = (measured: readonly Measured[], { cores, load }: Machine): string =>
  `# How many at a time

Written by \`npm run bench:widths\`, which also draws the curve. A *width* is how many attempts run and how many calls are
in flight at a time (\`execution.taskConcurrency\` and \`limits.concurrency\` of the provider). \`auto\` is what a run file
gets that says nothing: 32 attempts, and slots that adapt to the provider (\`docs/pacing.md\`).

![Wall clock by width](widths.svg)

The rule: among the widths at which at most ${toPercent(WIDTH_RULE.maxErrorRate)} of the cells have no score and at most ${toPercent(WIDTH_RULE.maxRetryRate)} of the requests
are refused or fail, the smallest one whose wall clock is within ${toPercent(WIDTH_RULE.slack)} of the best; the medians of both suites
are added, and both have to keep the rates (\`bench/widths/recommend-width.ts\`). So a width is not taken for a gain that
hardly shows, and never when the provider is pressed: a throttled call costs others of the same account as well.

${measured.map(formatMeasured).join('\n\n')}

Measured on ${cores} cores with a mean load of ${load.toFixed(1)} (1.0 a core = busy), endpoint, worker, Temporal and Postgres included.
Wall clock is from the start of the run to its end, with what it takes to prepare a run and to open a new engine. Up to
width 8 the 33 light cells share task workflows; from 16 on (33 is at most 4 x 16) each has one of its own, which
costs the machine more.

## On your machine

\`\`\`
npm run bench:widths                     # three rounds, less when ${'`--minutes`'} are over
npm run bench:widths -- --repeats 5 --minutes 15 --no-write
OPENAI_API_KEY=... npm run bench:widths  # a live round as well: gpt-5-mini, or ASSAY_WIDTHS_MODEL
\`\`\`

With \`OPENAI_API_KEY\` set, one round of both suites goes to the real provider (about 400 short calls; a run stops at 0.50
USD); \`--no-live\` leaves it out.
`;

const formatMeasured = ({ title, curves, toIdeal }: Measured): string =>
  [
    `## ${title}`,
    formatRecommendation(curves),
    ...curves.map((curve) => `### ${describeSuite(curve.suite)}\n\n${formatCurve(curve, toIdeal)}`),
  ].join('\n\n');

function describeSuite(suite: string): string {
  const work = WORKS.find(({ name }) => name === suite);
  return work === undefined ? suite : `${suite}: ${work.cells} cells, ${work.callsPerCell} calls each`;
}

/** What the simulated provider is. */
export const SIMULATED_TITLE = `A simulated provider that lets ${RATE_LIMIT.requestsPerSecond} requests a second through`;
