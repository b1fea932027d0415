import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { WidthPoint } from './width-points.ts';

/** A suite's points and the seconds that no runner can beat at each width. */
export type DrawnCurve = {
  readonly suite: string;
  readonly points: readonly WidthPoint[];
  readonly toIdealSeconds: (width: number) => number;
};

const COLORS = ['#1f6feb', '#c2410c', '#15803d'];

/** A point as it is drawn. */
type Mark = {
  readonly suite: string;
  readonly width: number;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly ideal: number;
};

/**
 * Wall clock by width as one SVG: median, bar from the quickest to the slowest repeat, dashed what no runner can beat.
 * Widths stand at equal distance, each twice the one before; the axis of seconds begins at 0. The title is of this
 * program and has none of the characters that an attribute may not hold.
 */
export function drawWidths(curves: readonly DrawnCurve[], title: string): string {
  const marks = curves.flatMap(toMarks);
  const byWidth = { x: 'width', stroke: 'suite' } as const;
  return toSvg(title, {
    width: 720,
    height: 360,
    marginTop: 40,
    marginBottom: 48,
    x: { type: 'point', label: 'width (calls and attempts at a time)', labelArrow: 'none' },
    y: {
      zero: true,
      nice: true,
      grid: true,
      label: 'wall clock, s (dashed: the least possible)',
      labelArrow: 'none',
    },
    color: { domain: curves.map(({ suite }) => suite), range: COLORS },
    marks: [
      Plot.lineY(marks, { ...byWidth, y: 'ideal', strokeDasharray: '4 4', strokeOpacity: 0.6 }),
      Plot.lineY(marks, { ...byWidth, y: 'median', strokeWidth: 2 }),
      Plot.ruleX(marks, { ...byWidth, y1: 'low', y2: 'high', strokeWidth: 2 }),
      Plot.dot(marks, { x: 'width', y: 'median', fill: 'suite', r: 4, title: toWords }),
      ...curves.map(toName),
    ],
  });
}

/** In the corner that falling curves leave free. */
const toName = ({ suite }: DrawnCurve, index: number) =>
  Plot.text([suite], {
    frameAnchor: 'top-right',
    dy: index * 18,
    fill: COLORS[index % COLORS.length] ?? '#000000',
    fontWeight: 'bold',
  });

const toMarks = ({ suite, points, toIdealSeconds }: DrawnCurve): readonly Mark[] =>
  points.flatMap(({ width, medianSeconds: median, lowSeconds: low, highSeconds: high }) =>
    width === 'auto' ? [] : [{ suite, width, median, low, high, ideal: toIdealSeconds(width) }],
  );

const toWords = ({ suite, width, median }: Mark): string =>
  `${suite}, width ${width}: ${median.toFixed(1)} s`;

/** A file of its own: on white, whatever page shows it. */
function toSvg(title: string, options: Plot.PlotOptions): string {
  const { document } = parseHTML('<html></html>');
  const svg = Plot.plot({ ...options, document, className: 'plot', style: { fontSize: '12px' } });
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', title);
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of Object.entries({ width: '100%', height: '100%', fill: '#ffffff' }))
    paper.setAttribute(name, value);
  svg.prepend(paper);
  return `${svg.outerHTML}\n`;
}
