import { markup, type Markup } from '../../src/reports/markup.ts';
import type { WidthPoint } from './width-points.ts';

/** A suite's points and the seconds that no runner can beat at each width. */
export type DrawnCurve = {
  readonly suite: string;
  readonly points: readonly WidthPoint[];
  readonly toIdealSeconds: (width: number) => number;
};

const [WIDTH, HEIGHT] = [720, 360];
const PLOT = { left: 56, right: 560, top: 44, bottom: 310 };
const COLORS = ['#1f6feb', '#c2410c', '#15803d'];

type Placed = WidthPoint & { readonly width: number };

/**
 * Wall clock by width as one SVG: median, bar from the quickest to the slowest repeat, dashed what no runner can beat.
 * Widths stand at equal distance, each twice the one before; the axis of seconds begins at 0.
 */
export function drawWidths(curves: readonly DrawnCurve[], title: string): string {
  const widths = [...new Set(curves.flatMap(({ points }) => listPlaced(points).map(({ width }) => width)))];
  const most = Math.max(
    1,
    ...curves.flatMap(({ points }) => listPlaced(points).map((one) => one.highSeconds)),
  );
  const scale = {
    x: (width: number): number =>
      PLOT.left +
      24 +
      (widths.indexOf(width) / Math.max(1, widths.length - 1)) * (PLOT.right - PLOT.left - 48),
    y: (seconds: number): number => PLOT.bottom - (seconds / most) * (PLOT.bottom - PLOT.top),
  };
  const drawn = markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${title}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${PLOT.left}" y="24" font-size="14" font-weight="bold">${title}</text>
${drawAxes({ widths, most, ...scale })}
${curves.map((curve, index) => drawCurve(curve, scale, index))}
</svg>
`;
  return drawn.html;
}

const listPlaced = (points: readonly WidthPoint[]): readonly Placed[] =>
  points.filter((point): point is Placed => point.width !== 'auto');

type Scale = { readonly x: (width: number) => number; readonly y: (seconds: number) => number };

function drawAxes({ widths, most, x, y }: Scale & { widths: readonly number[]; most: number }): Markup {
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * most);
  const lines = ticks.map(
    (
      seconds,
    ) => markup`<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${at(y(seconds))}" y2="${at(y(seconds))}" stroke="#e2e8f0"/>
<text x="${PLOT.left - 8}" y="${at(y(seconds) + 4)}" text-anchor="end">${seconds.toFixed(most < 10 ? 1 : 0)}</text>`,
  );
  const labels = widths.map(
    (width) => markup`<text x="${at(x(width))}" y="${PLOT.bottom + 18}" text-anchor="middle">${width}</text>`,
  );
  return markup`${lines}${labels}
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 38}" text-anchor="middle">width (calls and attempts at a time)</text>
<text x="14" y="${PLOT.top - 8}">s</text>`;
}

function drawCurve({ suite, points, toIdealSeconds }: DrawnCurve, { x, y }: Scale, index: number): Markup {
  const color = COLORS[index % COLORS.length] ?? '#000000';
  const placed = listPlaced(points);
  const toPath = (toSeconds: (point: Placed) => number): string =>
    placed.map((point) => `${at(x(point.width))},${at(y(toSeconds(point)))}`).join(' ');
  const dots = placed.map((point) => {
    const words = `${suite}, width ${point.width}: ${point.medianSeconds.toFixed(1)} s`;
    return markup`<g stroke="${color}"><title>${words}</title><line x1="${at(x(point.width))}" x2="${at(x(point.width))}" y1="${at(y(point.lowSeconds))}" y2="${at(y(point.highSeconds))}" stroke-width="2"/><circle cx="${at(x(point.width))}" cy="${at(y(point.medianSeconds))}" r="4" fill="${color}"/></g>
`;
  });
  const last = placed.at(-1);
  const legendY = PLOT.top + 16 + index * 44;
  return markup`<polyline points="${toPath((point) => toIdealSeconds(point.width))}" fill="none" stroke="${color}" stroke-dasharray="4 4" opacity="0.6"/>
<polyline points="${toPath((point) => point.medianSeconds)}" fill="none" stroke="${color}" stroke-width="2"/>
${dots}${
    last === undefined
      ? null
      : markup`<text x="${PLOT.right + 12}" y="${legendY}" fill="${color}" font-weight="bold">${suite}</text>
<text x="${PLOT.right + 12}" y="${legendY + 16}" fill="${color}">dashed: the least</text>`
  }`;
}

const at = (value: number): string => value.toFixed(1);
