import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import type { TargetValue } from '../domain/suite.ts';
import { compareJson, type Comparison } from './json-compare.ts';
import { extractJson, parseStrict, type Shape } from './json-extract.ts';
import { compileSchema, listSchemaErrors, toValidator } from './json-schema.ts';
import { runInThread, ThreadTimeoutError } from './killable-thread.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, scored, unscored } from './verdict.ts';

const options = z
  .strictObject({
    mode: z
      .enum(['subset', 'exact', 'schema'])
      .exactOptional()
      .describe(
        'subset: everything in the target is in the answer. exact: nothing else is. schema: only the schema counts. Default: schema when one is given, else subset.',
      ),
    schema: z
      .record(z.string(), z.json())
      .exactOptional()
      .describe(
        'JSON Schema (draft 7, or what its $schema names); with subset and exact it must hold as well.',
      ),
    strict: z
      .boolean()
      .default(false)
      .describe('The whole answer must be one JSON text. Otherwise JSON is taken out of prose and fences.'),
  })
  .superRefine((value, context) => {
    const message = findProblem(value);
    if (message !== null) context.addIssue({ code: 'custom', path: ['schema'], message });
  });

type Options = z.infer<typeof options>;

/**
 * The answer is, or contains, the expected JSON. The value is the share of the target's leaves that agree
 * (subset, exact) or 1 / 0 (schema, also beside them); a target that is text is read as JSON where it is JSON.
 * Of several JSON values in an answer the last one of the expected shape counts.
 */
export const json: Scorer = {
  kind: 'json',
  options,
  place: 'local',
  needsTarget: (given) => toMode(given) !== 'schema',
  score: judge,
};

async function judge(input: ScoreInput): Promise<ScorerVerdict> {
  const settings = options.parse(input.options);
  const targets = toMode(settings) === 'schema' ? [] : (input.target?.values ?? []).map(toExpected);
  if (toMode(settings) !== 'schema' && targets.length === 0) return noTarget('json');
  const extracted = settings.strict
    ? parseStrict(input.answer)
    : extractJson(input.answer, toShape(targets[0], settings));
  if (extracted.kind === 'absent') {
    return scored({ value: 0, threshold: input.threshold, explanation: extracted.reason });
  }
  const check = await checkSchema(settings, extracted.value, input.signal);
  if ('verdict' in check) return check.verdict;
  const best = toBest(targets, extracted.value, settings);
  const share = best === null || best.expected === 0 ? 1 : best.matched / best.expected;
  const problems = [...check.errors, ...(best?.differences ?? [])].slice(0, 5);
  const found = extracted.note === null ? '' : `${extracted.note}: `;
  return scored({
    value: check.errors.length > 0 ? 0 : share,
    threshold: input.threshold,
    explanation: `${found}${problems.length === 0 ? 'as expected' : problems.join('; ')}`,
    metrics: best === null ? {} : { matched: best.matched, expected: best.expected },
  });
}

const toMode = (settings: JsonObject | Options): unknown =>
  settings['mode'] ?? (settings['schema'] === undefined ? 'subset' : 'schema');

function toBest(targets: readonly unknown[], value: unknown, settings: Options): Comparison | null {
  const mode = toMode(settings) === 'exact' ? 'exact' : 'subset';
  const comparisons = targets.map((target) => compareJson(target, value, mode));
  const share = (comparison: Comparison): number => comparison.matched / comparison.expected;
  return comparisons.toSorted((a, b) => share(b) - share(a))[0] ?? null;
}

function toExpected(target: TargetValue): unknown {
  if (typeof target !== 'string') return target;
  const parsed = parseStrict(target);
  return parsed.kind === 'found' ? parsed.value : target;
}

function toShape(target: unknown, settings: Options): Shape {
  if (Array.isArray(target) || settings.schema?.['type'] === 'array') return 'array';
  const isObject = typeof target === 'object' && target !== null;
  return isObject || settings.schema?.['type'] === 'object' ? 'object' : null;
}

type SchemaCheck = { readonly errors: readonly string[] } | { readonly verdict: ScorerVerdict };

/** Schemas with patterns run on the killable thread: a pattern over a model's text may never end. */
async function checkSchema(settings: Options, value: unknown, signal: AbortSignal): Promise<SchemaCheck> {
  const { schema } = settings;
  if (schema === undefined) return { errors: [] };
  if (!JSON.stringify(schema).includes('"pattern'))
    return { errors: listSchemaErrors(toValidator(schema), value) };
  try {
    const answer = await runInThread({ kind: 'schema', schema, value }, signal);
    if (answer.kind === 'errors') return answer;
    return { verdict: unscored('scorer_failed', 'the schema could not be checked') };
  } catch (error) {
    if (!(error instanceof ThreadTimeoutError)) throw error;
    return {
      verdict: unscored('time_out', `checking the schema ${error.message}: simplify its patterns`),
    };
  }
}

function findProblem(settings: { readonly mode?: string; readonly schema?: object }): string | null {
  if (settings.schema === undefined) return settings.mode === 'schema' ? 'mode schema needs a schema' : null;
  try {
    compileSchema(settings.schema);
    return null;
  } catch (error) {
    return `is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
  }
}
