import type { Analyzer, ToolCallFact } from './analyzer.ts';

/**
 * How often an agent did again what it had done: `repeated` counts calls whose tool and arguments came before in the
 * attempt, `inARow` those that did nothing but repeat the call or the two calls before them.
 */
export const loops: Analyzer = {
  name: 'loops',
  analyze({ toolCalls }) {
    if (toolCalls.length === 0) return null;
    const names = toolCalls.map(toName);
    const repeated = names.length - new Set(names).size;
    const inARow = names.filter((name, at) => repeats(names, name, at)).length;
    const longest = findLongest(names);
    const times =
      longest.length === 1 ? '' : `; the longest: ${toolOf(longest.name)} ${longest.length} times`;
    return {
      summary: `${repeated} of ${names.length} tool calls repeat an earlier one, ${inARow} in a row${times}`,
      facts: { calls: names.length, repeated, inARow, longestRun: longest.length },
    };
  },
};

const toName = ({ tool, argumentsDigest }: ToolCallFact): string => `${argumentsDigest} ${tool}`;

const toolOf = (name: string): string => name.slice(name.indexOf(' ') + 1);

/** The same as one before, or the fourth or later of an alternation such as a, b, a, b. */
const repeats = (names: readonly string[], name: string, at: number): boolean =>
  names[at - 1] === name || (at >= 3 && names[at - 2] === name && names[at - 3] === names[at - 1]);

/** The longest run of one and the same call. */
function findLongest(names: readonly string[]): { readonly name: string; readonly length: number } {
  let longest = { name: names[0] ?? '', length: 1 };
  let length = 0;
  for (const [at, name] of names.entries()) {
    length = names[at - 1] === name ? length + 1 : 1;
    if (length > longest.length) longest = { name, length };
  }
  return longest;
}
