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
import { toCode, toMarkdownText } from './markdown-text.ts';

/** A comparison as GitHub-flavoured Markdown, with the content of the terminal's text. */
export function formatComparisonMarkdown({ pairs, notes }: Comparison): string {
  const adjusted = pairs.length < 2 ? [] : [`p adjusted for ${pairs.length} comparisons (Holm).`];
  const empty = pairs.length === 0 ? [NOTHING_TO_COMPARE] : [];
  const listed = notes.map(({ text }) => `- ${toMarkdownText(text)}`).join('\n');
  const blocks = [...pairs.flatMap(formatPair), ...adjusted, ...empty, listed];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function formatPair(pair: ComparedPair): readonly string[] {
  const shown = pair.changes.slice(0, SHOWN_CHANGES);
  const hidden = pair.changeCount - shown.length;
  const taken = describeTaken(pair);
  const facts = [
    `**${toMarkdownText(describeDifference(pair))}**, ${toMarkdownText(describeVerdict(pair))}`,
    toMarkdownText(describeCounts(pair)),
    ...(taken === null ? [] : [toMarkdownText(taken)]),
  ];
  const changes = shown.map((change) => {
    const { head, explanation } = describeChange(change);
    return `- ${toMarkdownText(head)}${explanation === null ? '' : `<br>${toCode(explanation)}`}`;
  });
  const more = hidden > 0 ? [`- … ${hidden} more`] : [];
  return [
    `### ${toMarkdownText(nameSides(pair))}`,
    facts.map((fact) => `- ${fact}`).join('\n'),
    [...changes, ...more].join('\n'),
  ];
}
