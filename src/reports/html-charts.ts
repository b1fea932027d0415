import type { Board, BoardRow } from './report-schema.ts';
import { toCostText, toDurationText, toScoreText } from './figure-text.ts';
import { type Markup, markup } from './markup.ts';

const WIDTH = 640;
const ROW = 26;
const LABEL = 200;
const PLOT = WIDTH - LABEL - 60;

/** A dot on a line for each model; what is drawn stands in words beside it. */
type Mark = {
  readonly label: string;
  readonly text: string;
  readonly low: number;
  readonly high: number;
  readonly point: number;
};

/** Means with their intervals, from 0 to 1. */
export function drawMeans({ rows }: Board): Markup | null {
  const marks = rows.flatMap(({ modelId, figures: { mean } }): Mark[] => {
    if (mean === null) return [];
    const { value, interval } = mean;
    const range = interval === null ? '' : ` [${toScoreText(interval.low)}, ${toScoreText(interval.high)}]`;
    const text = `${toScoreText(value)}${range}, n=${mean.cases}`;
    return [
      { label: modelId, text, low: interval?.low ?? value, high: interval?.high ?? value, point: value },
    ];
  });
  return drawMarks(marks, { title: 'Mean with its 95% interval', most: 1 });
}

/** From the median to p99, with p95 as the dot. */
export function drawLatencies({ rows }: Board): Markup | null {
  const marks = rows.flatMap(({ modelId, figures: { latency } }): Mark[] => {
    if (latency === null) return [];
    const { p50Ms, p95Ms, p99Ms, cells } = latency;
    const text = `p50 ${toDurationText(p50Ms)}, p95 ${toDurationText(p95Ms)}, p99 ${toDurationText(p99Ms)}, n=${cells}`;
    return [{ label: modelId, text, low: p50Ms, high: p99Ms, point: p95Ms }];
  });
  return drawMarks(marks, {
    title: 'Latency from p50 to p99, dot at p95',
    most: Math.max(1, ...marks.map(({ high }) => high)),
  });
}

function drawMarks(
  marks: readonly Mark[],
  { title, most }: { readonly title: string; readonly most: number },
): Markup | null {
  if (marks.length === 0) return null;
  const height = marks.length * ROW + 8;
  const at = (value: number): string => (LABEL + (value / most) * PLOT).toFixed(1);
  const lines = marks.map(({ label, text, low, high, point }, index) => {
    const y = index * ROW + ROW / 2 + 4;
    return markup`<g><title>${label}: ${text}</title><text x="0" y="${y + 4}">${shorten(label)}</text>
<line class="axis" x1="${at(0)}" x2="${at(most)}" y1="${y}" y2="${y}"/>
<line class="range" stroke-width="4" x1="${at(low)}" x2="${at(high)}" y1="${y}" y2="${y}"/>
<circle class="point" cx="${at(point)}" cy="${y}" r="5"/></g>`;
  });
  const words = marks.map(({ label, text }) => `${label} ${text}`).join('; ');
  return markup`<h3>${title}</h3><svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${title}: ${words}">${lines}</svg>`;
}

const shorten = (label: string): string =>
  label.length <= 26 ? label : `${label.slice(0, 12)}…${label.slice(-12)}`;

const PLOT_HEIGHT = 260;

/** Cost of an attempt against the mean over shared cases; filled = no ranked model is better and cheaper. */
export function drawCosts({ rows }: Board): Markup | null {
  const known = rows.filter((row) => row.sharedMean !== null && row.attemptCostUsd !== null);
  const most = Math.max(0, ...known.map((row) => row.attemptCostUsd ?? 0));
  if (known.length < 2 || most === 0) return null;
  const [left, bottom] = [44, PLOT_HEIGHT - 30];
  const x = (row: BoardRow): number => left + ((row.attemptCostUsd ?? 0) / most) * (WIDTH - left - 210);
  const y = (row: BoardRow): number => bottom - (row.sharedMean ?? 0) * (bottom - 14);
  const points = known.map((row) => {
    const words = `${row.modelId}: ${toScoreText(row.sharedMean ?? 0)} at ${toCostText(row.attemptCostUsd)}${row.onFront ? ', best choice' : ''}`;
    const kind = row.onFront ? 'point' : 'other';
    return markup`<g><title>${words}</title><circle class="${kind}" cx="${x(row).toFixed(1)}" cy="${y(row).toFixed(1)}" r="6"/><text x="${(x(row) + 10).toFixed(1)}" y="${(y(row) + 4).toFixed(1)}">${shorten(row.modelId)}</text></g>`;
  });
  const words = known
    .map((row) => `${row.modelId} ${toScoreText(row.sharedMean ?? 0)} at ${toCostText(row.attemptCostUsd)}`)
    .join('; ');
  return markup`<h3>Cost of an attempt against the mean</h3><p class="soft">Blue: no other model is both as good and as cheap.</p>
<svg viewBox="0 0 ${WIDTH} ${PLOT_HEIGHT}" width="${WIDTH}" role="img" aria-label="Cost against mean: ${words}">
<line class="axis" x1="${left}" x2="${WIDTH}" y1="${bottom}" y2="${bottom}"/><line class="axis" x1="${left}" x2="${left}" y1="8" y2="${bottom}"/>
<text x="8" y="18">1.00</text><text x="8" y="${bottom}">0.00</text><text x="${left}" y="${bottom + 18}">$0</text><text x="${WIDTH - 210 - 20}" y="${bottom + 18}">${toCostText(most)}</text>${points}</svg>`;
}
