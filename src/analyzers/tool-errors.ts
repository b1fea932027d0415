import type { Analyzer, ToolCallFact } from './analyzer.ts';

/** How many tool calls failed or ran into their time limit, in all and by tool. */
export const toolErrors: Analyzer = {
  name: 'tool-errors',
  analyze({ toolCalls }) {
    if (toolCalls.length === 0) return null;
    const failed = countByTool(toolCalls.filter(({ status }) => status === 'error'));
    const timedOut = countByTool(toolCalls.filter(({ status }) => status === 'timeout'));
    const unknown = toolCalls.filter(({ status }) => status === 'unknown' || status === null).length;
    const parts = [
      ...describe(failed, 'failed'),
      ...describe(timedOut, 'timed out'),
      ...(unknown === 0 ? [] : [`${unknown} with an unknown end`]),
    ];
    return {
      summary: `${toolCalls.length} tool calls: ${parts.length === 0 ? 'none failed' : parts.join('; ')}`,
      facts: {
        calls: toolCalls.length,
        failed: sum(failed),
        timedOut: sum(timedOut),
        unknown,
        ...toFacts(failed, 'failed'),
        ...toFacts(timedOut, 'timedOut'),
      },
    };
  },
};

type Counts = readonly (readonly [tool: string, calls: number])[];

const countByTool = (calls: readonly ToolCallFact[]): Counts =>
  [...Map.groupBy(calls, ({ tool }) => tool)]
    .map(([tool, own]) => [tool, own.length] as const)
    .toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));

const sum = (counts: Counts): number => counts.reduce((total, [, calls]) => total + calls, 0);

const describe = (counts: Counts, what: string): readonly string[] =>
  counts.length === 0
    ? []
    : [`${sum(counts)} ${what} (${counts.map(([tool, calls]) => `${tool} ${calls}`).join(', ')})`];

const toFacts = (counts: Counts, what: string): { readonly [name: string]: number } =>
  Object.fromEntries(counts.map(([tool, calls]) => [`${what}.${tool}`, calls]));
