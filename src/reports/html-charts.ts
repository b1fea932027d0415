import * as Plot from '@observablehq/plot';
import { toCostText, toDurationText, toPercentText, toScoreText } from './figure-text.ts';
import type { Markup } from './markup.ts';
import { type ChartForm, drawChart, toLabel } from './plot-chart.ts';
import type { Board, BoardRow } from './report-schema.ts';
import { toPrintable } from './terminal-text.ts';

/** A range and a point in it for each model, a line each. */
type Mark = {
  readonly modelId: string;
  readonly figures: string;
  readonly low: number;
  readonly high: number;
  readonly point: number;
};

const MARK = 'var(--mark)';
const SOFT = 'var(--soft)';

/** Means with their intervals, from 0 to 1. */
export function drawMeans({ rows }: Board): Markup | null {
  const marks = rows.flatMap(({ modelId, figures: { mean } }): Mark[] => {
    if (mean === null) return [];
    const { value, interval } = mean;
    const range = interval === null ? '' : ` [${toScoreText(interval.low)}, ${toScoreText(interval.high)}]`;
    const figures = `${toScoreText(value)}${range} n=${mean.cases}`;
    return [{ modelId, figures, low: interval?.low ?? value, high: interval?.high ?? value, point: value }];
  });
  return drawMarks(marks, { title: 'Mean with its 95% interval', x: { domain: [0, 1], label: 'mean' } });
}

/** From the median to p99, with p95 as the dot. */
export function drawLatencies({ rows }: Board): Markup | null {
  const marks = rows.flatMap(({ modelId, figures: { latency } }): Mark[] => {
    if (latency === null) return [];
    const { p50Ms, p95Ms, p99Ms, cells } = latency;
    const figures = `${toDurationText(p50Ms)} to ${toDurationText(p99Ms)}, p95 ${toDurationText(p95Ms)} n=${cells}`;
    return [{ modelId, figures, low: p50Ms / 1_000, high: p99Ms / 1_000, point: p95Ms / 1_000 }];
  });
  return drawMarks(marks, {
    title: 'Latency from p50 to p99, dot at p95',
    x: { zero: true, nice: true, label: 'seconds' },
  });
}

const FIGURES_WIDTH = 190;

function drawMarks(
  marks: readonly Mark[],
  { title, x }: { readonly title: string; readonly x: Plot.ScaleOptions },
): Markup | null {
  if (marks.length === 0) return null;
  const draw = (form: ChartForm): Plot.PlotOptions => ({
    marginLeft: form.labelWidth,
    marginRight: form.hasFigures ? FIGURES_WIDTH : 20,
    height: marks.length * 26 + 56,
    x: { ...x, grid: true, ticks: form.hasFigures ? 6 : 3, labelArrow: 'none' },
    y: {
      type: 'band',
      domain: marks.map(({ modelId }) => modelId),
      label: null,
      tickSize: 0,
      tickFormat: (id: string) => toLabel(id, form),
    },
    marks: [
      Plot.ruleY(marks, { y: 'modelId', x1: 'low', x2: 'high', stroke: MARK, strokeWidth: 4 }),
      Plot.dot(marks, {
        y: 'modelId',
        x: 'point',
        r: 5,
        fill: MARK,
        title: ({ modelId, figures }: Mark) => `${toPrintable(modelId)}: ${figures}`,
      }),
      ...(form.hasFigures
        ? [
            Plot.text(marks, {
              y: 'modelId',
              text: 'figures',
              frameAnchor: 'right',
              textAnchor: 'start',
              dx: 12,
            }),
          ]
        : []),
    ],
  });
  const words = marks.map(({ modelId, figures }) => `${modelId} ${figures}`).join('; ');
  return drawChart({ title, hint: null, words, draw });
}

type Point = {
  readonly modelId: string;
  readonly costUsd: number;
  readonly mean: number;
  readonly onFront: boolean;
};

/** Above this many, names would cover each other: only those of the best choices stand beside their points. */
const NAMED_POINTS = 8;

/** Names beside points are read over lines. */
const NAMES = {
  dx: 7,
  textAnchor: 'start',
  stroke: 'var(--back)',
  strokeWidth: 4,
  fill: 'var(--text)',
} as const;

/** Costs that lie further apart than this are drawn on a logarithmic scale. */
const LINEAR_SPAN = 30;

/** Cost of an attempt against the mean over shared cases; filled = no ranked model is better and cheaper. */
export function drawCosts({ rows }: Board): Markup | null {
  const points = rows.flatMap(toPoint).toSorted((a, b) => a.costUsd - b.costUsd);
  const [least, most] = [points[0]?.costUsd ?? 0, points.at(-1)?.costUsd ?? 0];
  if (points.length < 2 || most === 0) return null;
  const isWide = least > 0 && most / least > LINEAR_SPAN;
  const front = points.filter(({ onFront }) => onFront);
  const named = points.length <= NAMED_POINTS ? points : front;
  const hints = [
    'Filled: no other model is both as good and as cheap.',
    ...(named.length < points.length ? ['Only these are named.'] : []),
    ...(isWide ? ['Costs are on a logarithmic scale.'] : []),
  ];
  return drawChart({
    title: 'Cost of an attempt against the mean',
    hint: hints.join(' '),
    words: points.map(toPointText).join('; '),
    draw: (form) => ({
      height: 320,
      marginLeft: 44,
      marginRight: form.labelWidth,
      x: {
        type: isWide ? 'log' : 'linear',
        zero: !isWide,
        nice: !isWide,
        grid: true,
        ticks: form.hasFigures ? 5 : 2,
        label: 'USD of an attempt',
        labelArrow: 'none',
        tickFormat: (usd: number) => toCostText(usd),
      },
      y: { domain: [0, 1], grid: true, ticks: 5, label: 'mean over shared cases', labelArrow: 'none' },
      marks: [drawFront(front), drawPoints(points), ...drawNames(named, form)],
    }),
  });
}

const drawFront = (front: readonly Point[]): Plot.Markish =>
  Plot.line(front, {
    x: 'costUsd',
    y: 'mean',
    curve: 'step-after',
    stroke: MARK,
    strokeDasharray: '3 3',
  });

const drawPoints = (points: readonly Point[]): Plot.Markish =>
  Plot.dot(points, {
    x: 'costUsd',
    y: 'mean',
    r: 6,
    stroke: ({ onFront }: Point) => (onFront ? MARK : SOFT),
    fill: ({ onFront }: Point) => (onFront ? MARK : 'none'),
    title: toPointText,
  });

/** Every second name stands below its point, so that neighbours do not cover each other. */
const drawNames = (named: readonly Point[], form: ChartForm): readonly Plot.Markish[] =>
  [0, 1].map((side) =>
    Plot.text(
      named.filter((_, index) => index % 2 === side),
      {
        ...NAMES,
        x: 'costUsd',
        y: 'mean',
        text: ({ modelId }: Point) => toLabel(modelId, form),
        dy: side === 0 ? -10 : 12,
      },
    ),
  );

const toPoint = ({ modelId, attemptCostUsd: costUsd, sharedMean: mean, onFront }: BoardRow): Point[] =>
  costUsd === null || mean === null ? [] : [{ modelId, costUsd, mean, onFront }];

const toPointText = ({ modelId, mean, costUsd, onFront }: Point): string =>
  toPrintable(`${modelId}: ${toScoreText(mean)} at ${toCostText(costUsd)}${onFront ? ', best choice' : ''}`);

type CurvePoint = {
  readonly modelId: string;
  readonly k: number;
  readonly value: number;
  readonly kind: string;
};

/** pass@k and pass^k of up to this many models: more lines than that cannot be told apart. */
const CURVES = 6;

/** What more attempts would bring (pass@k), and how far a model can be relied on (pass^k). */
export function drawCurves({ rows }: Board): Markup | null {
  const models = rows.filter(({ figures }) => figures.passCurve.length > 2).slice(0, CURVES);
  const points = models.flatMap(({ modelId, figures }) =>
    figures.passCurve.flatMap(({ k, passAtK, passHatK }): CurvePoint[] => [
      ...(passAtK === null ? [] : [{ modelId, k, value: passAtK, kind: 'pass@k' }]),
      ...(passHatK === null ? [] : [{ modelId, k, value: passHatK, kind: 'pass^k' }]),
    ]),
  );
  if (points.length === 0) return null;
  const ends = models.flatMap(({ modelId }) => {
    const own = points.filter((point) => point.modelId === modelId);
    return ['pass@k', 'pass^k'].flatMap((kind) => own.findLast((point) => point.kind === kind) ?? []);
  });
  const draw = (form: ChartForm): Plot.PlotOptions => ({
    height: 300,
    marginLeft: 44,
    marginRight: form.labelWidth,
    x: { label: 'k', ticks: Math.max(...points.map(({ k }) => k)), tickFormat: 'd', labelArrow: 'none' },
    y: { domain: [0, 1], grid: true, ticks: 5, label: 'share of cases', labelArrow: 'none' },
    marks: [
      Plot.line(
        points.filter(({ kind }) => kind === 'pass@k'),
        { x: 'k', y: 'value', z: 'modelId', stroke: MARK },
      ),
      Plot.line(
        points.filter(({ kind }) => kind === 'pass^k'),
        { x: 'k', y: 'value', z: 'modelId', stroke: MARK, strokeDasharray: '4 3' },
      ),
      Plot.text(ends, {
        x: 'k',
        y: 'value',
        text: ({ modelId }: CurvePoint) => toLabel(modelId, form),
        dx: 6,
        textAnchor: 'start',
      }),
    ],
  });
  const toWords = ({ modelId, figures }: BoardRow): string =>
    `${modelId} ${figures.passCurve.map(({ k, passAtK, passHatK, cases }) => `k=${k} ${toShare(passAtK)} and ${toShare(passHatK)} n=${cases}`).join(', ')}`;
  return drawChart({
    title: 'pass@k and pass^k',
    hint: `Solid: solved by at least one of k attempts. Dashed: solved by all of k.${rows.length > models.length ? ` The first ${models.length} models.` : ''}`,
    words: models.map(toWords).join('; '),
    draw,
  });
}

const toShare = (value: number | null): string => (value === null ? 'unknown' : toPercentText(value));
