import type { Comparison } from './comparison-schema.ts';
import { formatComparisonMarkdown } from './comparison-markdown.ts';
import { formatMarkdown } from './markdown.ts';
import { toMarkdownText } from './markdown-text.ts';
import type { Report } from './report-schema.ts';

export type GateVerdict = {
  readonly passed: boolean;
  /** Why not, one sentence each. */
  readonly reasons: readonly string[];
};

/** What a gate says in a pull request: the verdict first, then the comparison with the baseline, then the report. */
export function formatGateSummary(
  verdict: GateVerdict,
  { report, comparison }: { readonly report: Report; readonly comparison: Comparison | null },
): string {
  const head = verdict.passed ? '# ✅ Gate passed' : '# ❌ Gate failed';
  const reasons = verdict.reasons.map((reason) => `- ${toMarkdownText(reason)}`).join('\n');
  const compared =
    comparison === null ? '' : `## Against the baseline\n\n${formatComparisonMarkdown(comparison).trimEnd()}`;
  const whole = `<details>\n<summary>Report</summary>\n\n${formatMarkdown(report).trimEnd()}\n\n</details>`;
  return `${[head, reasons, compared, whole].filter((part) => part !== '').join('\n\n')}\n`;
}
