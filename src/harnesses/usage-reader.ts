import type { Combine, UsageFigure, UsageSource } from '../domain/command-harness.ts';
import { addKnown, UNKNOWN_USAGE, type Usage } from '../domain/usage.ts';
import { findPlaces } from './json-places.ts';
import { createJsonReader, type TextReader } from './json-reader.ts';
import { LineReader } from './line-reader.ts';

/** What an agent says that it used; null = it does not say. */
export type ReportedUsage = { readonly usage: Usage; readonly costUsd: number | null };

export interface UsageReader extends TextReader {
  readonly found: ReportedUsage;
}

type Figures = { readonly [K in UsageFigure]?: number | null };

/** Longer lines are no report, and an expression should not be tried on them. */
const LONGEST_MATCHED_LINE = 2_000;

/** Reads figures out of what an agent wrote, as the run file or a preset says where they stand. */
export function createUsageReader(source: UsageSource): UsageReader {
  let sums: Figures = {};
  const add = (figures: Figures): void => void (sums = combine(sums, figures, source.combine));
  const reader =
    'patterns' in source
      ? new LineReader((line) => add(matchLine(line, source.patterns)))
      : createJsonReader(source.source, (value) => add(readObject(value, source.paths)));
  return {
    push: (chunk) => reader.push(chunk),
    end: () => reader.end(),
    get found() {
      return toReported(sums);
    },
  };
}

function combine(sums: Figures, figures: Figures, how: Combine): Figures {
  const entries = Object.entries(figures).filter(([, value]) => value !== null);
  return {
    ...sums,
    ...Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        how === 'last' ? value : addKnown(sums[name as UsageFigure] ?? null, value),
      ]),
    ),
  };
}

const readObject = (value: unknown, paths: { readonly [K in UsageFigure]?: readonly string[] }): Figures =>
  Object.fromEntries(
    Object.entries(paths).map(([name, places]) => [
      name,
      places
        .flatMap((place) => findPlaces(value, place))
        .filter((one) => typeof one === 'number' && Number.isFinite(one) && one >= 0)
        .reduce<number | null>((sum, one) => addKnown(sum, one as number), null),
    ]),
  );

function matchLine(line: string, patterns: { readonly [K in UsageFigure]?: string }): Figures {
  if (line.length > LONGEST_MATCHED_LINE) return {};
  return Object.fromEntries(
    Object.entries(patterns).map(([name, pattern]) => [
      name,
      parseFigure(new RegExp(pattern).exec(line)?.[1]),
    ]),
  );
}

const UNITS: { readonly [unit: string]: number } = { k: 1e3, m: 1e6 };

/** `1,234`, `2.3k`, `1.2M`, `0.05`. */
function parseFigure(text: string | undefined): number | null {
  const [, digits, unit = ''] = /^\s*\$?([\d,]*\.?\d+)\s*([kKmM]?)\s*$/.exec(text ?? '') ?? [];
  if (digits === undefined) return null;
  const factor = UNITS[unit.toLowerCase()] ?? 1;
  const figure = Number(digits.replaceAll(',', '')) * factor;
  return factor === 1 ? figure : Math.round(figure);
}

const toReported = ({ costUsd = null, ...tokens }: Figures): ReportedUsage => ({
  usage: { ...UNKNOWN_USAGE, ...tokens },
  costUsd,
});
