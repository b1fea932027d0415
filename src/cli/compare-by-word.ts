import { findRun } from '../client/find-run.ts';
import { loadRows } from '../client/report.ts';
import type { ReportRows } from '../domain/report-rows.ts';
import { compare } from '../reports/compare.ts';
import { formatComparisonMarkdown } from '../reports/comparison-markdown.ts';
import { formatComparison } from '../reports/comparison-table.ts';
import { pairModels, pairRuns } from '../reports/pair-sides.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { withRuns } from './open-assay.ts';
import { quoteWord } from './quote-word.ts';
import { toTableForm } from './table-form.ts';
import { UsageError } from './usage-error.ts';

export type CompareQuery = {
  readonly first: string;
  /** Null = the models of the first run are compared with each other. */
  readonly second: string | null;
  /** Empty = all. */
  readonly models: readonly string[];
  readonly format: 'table' | 'markdown';
};

/** `assay compare RUN [RUN]` */
export async function compareByWord(query: CompareQuery, context: CommandContext): Promise<CommandResult> {
  const [one, other] = await loadBoth(query, context);
  const known = [one, ...(other === null ? [] : [other])].flatMap((rows) =>
    rows.models.map(({ modelId }) => modelId),
  );
  const unknown = query.models.find((model) => !known.includes(model));
  if (unknown !== undefined)
    throw new UsageError(
      `--model: there is no model "${unknown}"; known: ${[...new Set(known)].join(', ')}.`,
    );
  const paired = other === null ? pairModels(one, query.models) : pairRuns(one, other, query.models);
  const comparison = compare(paired);
  const text =
    query.format === 'markdown'
      ? formatComparisonMarkdown(comparison)
      : formatComparison(comparison, toTableForm(context.settings));
  const broken = comparison.pairs
    .flatMap(({ second, changes }) => changes.map((change) => ({ ...change, ...second })))
    .find(({ kind }) => kind === 'broken');
  return toResult({
    document: comparison,
    text: text.trimEnd(),
    next:
      broken === undefined || query.format === 'markdown'
        ? []
        : [`assay show ${broken.runId} ${quoteWord(broken.caseId)} --model ${quoteWord(broken.modelId)}`],
  });
}

const loadBoth = (
  { first, second }: CompareQuery,
  context: CommandContext,
): Promise<readonly [ReportRows, ReportRows | null]> =>
  withRuns(context, async ({ connection }) => {
    const { runId } = await findRun(connection.db, first);
    const one = await loadRows(connection, runId);
    if (second === null) return [one, null] as const;
    const found = await findRun(connection.db, second);
    return [one, await loadRows(connection, found.runId)] as const;
  });
