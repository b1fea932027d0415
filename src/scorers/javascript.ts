import { Script } from 'node:vm';
import { z } from 'zod';
import { duration } from './duration.ts';
import type { CodeToRun, Scorer } from './scorer.ts';
import { unscored } from './verdict.ts';

const MAX_CHARACTERS = 256 * 1024;

const options = z
  .strictObject({
    expression: z
      .string()
      .min(1)
      .exactOptional()
      .describe(
        'JavaScript expression over answer, target, targets, testCase, transcript, modelId, context, threshold: a number from 0 to 1, true or false, { value, explanation, metrics }, or null = cannot judge. May await.',
      ),
    file: z
      .string()
      .min(1)
      .exactOptional()
      .describe('A .js or .ts module whose default export is the function; it is read with the suite.'),
    code: z
      .string()
      .min(1)
      .max(MAX_CHARACTERS, `holds more than ${MAX_CHARACTERS} characters`)
      .exactOptional()
      .describe('Such a module as text.'),
    timeout: duration.prefault('10s').describe('A judgement that takes longer is ended and gives no score.'),
  })
  .superRefine(({ expression, code }, context) => {
    if ((expression === undefined) === (code === undefined)) {
      const message = 'expected one of "expression", "file" and "code"';
      context.addIssue({ code: 'custom', path: [], message });
    }
    const problem = expression === undefined ? null : findSyntaxError(expression);
    if (problem !== null) context.addIssue({ code: 'custom', path: ['expression'], message: problem });
  });

type Options = z.output<typeof options>;

/**
 * A function of the suite's author: one expression, or a module with a default export, judged in a process of its own
 * with a time and a memory limit. The module may import what Node.js brings, and packages of the worker's project.
 */
export const javascript: Scorer = {
  kind: 'javascript',
  options,
  place: 'process',
  readsCode: true,
  needsTarget: () => false,
  score: async (input) => {
    if (input.runCode === undefined)
      return unscored('no_process', 'scorer javascript was given no process to run in');
    return await input.runCode(toCode(options.parse(input.options)), input);
  },
};

const toCode = ({ expression, code, file, timeout }: Options): CodeToRun => ({
  code: expression === undefined ? (code ?? '') : `export default ${toFunction(expression)};\n`,
  fileName: expression === undefined ? (file ?? 'scorer.ts') : 'expression.js',
  timeoutMs: timeout,
});

/** In parentheses and on lines of its own, so that a comment at its end hides nothing. */
const toFunction = (expression: string): string =>
  `async ({ answer, target, targets, case: testCase, transcript, modelId, context, threshold }) => (\n${expression}\n)`;

/** Parsed, never run: the text comes from a run file. */
function findSyntaxError(expression: string): string | null {
  try {
    return new Script(`(${toFunction(expression)})`) instanceof Script ? null : 'is no script';
  } catch (error) {
    return `is no JavaScript expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}
