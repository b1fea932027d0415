import picocolors from 'picocolors';
import type { ComparedPair, Comparison } from './comparison-schema.ts';
import {
  describeChange,
  describeCounts,
  describeDifference,
  describeTaken,
  describeVerdict,
  nameSides,
  NOTHING_TO_COMPARE,
  SHOWN_CHANGES,
} from './comparison-words.ts';
import { formatNotes, type Style } from './note-list.ts';
import type { TableForm } from './table.ts';
import { hang } from './terminal-text.ts';

/** A comparison as text for a terminal: each pair with its difference, what it rests on, and the cases that changed. */
export function formatComparison({ pairs, notes }: Comparison, { width, color }: TableForm): string {
  const style = { width: Math.max(60, width), colors: picocolors.createColors(color) };
  const several =
    pairs.length < 2 ? [] : [style.colors.dim(`p adjusted for ${pairs.length} comparisons (Holm)`)];
  const empty = pairs.length === 0 ? [NOTHING_TO_COMPARE] : [];
  const blocks = [
    ...pairs.map((pair) => formatPair(pair, style)),
    ...several,
    ...empty,
    formatNotes([...notes], style),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function formatPair(pair: ComparedPair, style: Style): string {
  const { width, colors } = style;
  const paint =
    pair.verdict === 'worse' ? colors.red : pair.verdict === 'better' ? colors.green : colors.yellow;
  const taken = describeTaken(pair);
  const lines = [
    ...hang('', nameSides(pair), width).map((line) => colors.bold(line)),
    ...hang('  ', describeDifference(pair), width),
    ...hang('  ', describeVerdict(pair), width).map((line) => paint(line)),
    ...hang('  ', describeCounts(pair), width).map((line) => colors.dim(line)),
    ...(taken === null ? [] : hang('  ', taken, width).map((line) => colors.dim(line))),
  ];
  return [...lines, ...listChanges(pair, style)].join('\n');
}

function listChanges({ changes, changeCount }: ComparedPair, { width, colors }: Style): readonly string[] {
  const shown = changes.slice(0, SHOWN_CHANGES);
  const hidden = changeCount - shown.length;
  const more = hidden > 0 ? [colors.dim(`    … ${hidden} more changed: --json lists them`)] : [];
  return [
    ...shown.flatMap((change) => {
      const isWorse = change.kind === 'broken' || change.kind === 'lower';
      const { head, explanation } = describeChange(change);
      const paint = isWorse ? colors.red : colors.green;
      const why = explanation === null || !isWorse ? [] : hang('      ', explanation, width);
      return [
        ...hang(`    ${isWorse ? '✗' : '✓'} `, head, width).map((line) => paint(line)),
        ...why.map((line) => colors.dim(line)),
      ];
    }),
    ...more,
  ];
}
