import type { ZodType } from 'zod';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { checkVerdict } from '../scorers/guard.ts';
import { unscored } from '../scorers/verdict.ts';
import type { ProviderDefinition } from '../providers/define-provider.ts';
import type {
  CallMessage,
  ProviderMessage,
  ScoreMessage,
  ToolAnswer,
  ToolMessage,
} from './child-messages.ts';
import type { ScorerDefinition } from './define-scorer.ts';
import type { ToolDefinition } from './define-tool.ts';
import { formatError, toErrorFacts } from './error-facts.ts';
import { readValue } from './read-value.ts';
import type { ObjectSchema } from './schema-types.ts';

type Setting = {
  /** `tool NAME`, `scorer NAME`. */
  readonly definitions: ReadonlyMap<string, object>;
  readonly signal: AbortSignal;
  readonly url: string | null;
};

/** Longer outputs are cut here; what the model reads is cut further. */
const OUTPUT_LIMIT = 4 * 1024 * 1024;

/** One call. Throws what a tool or provider throws; what a scorer throws is a verdict. */
export async function runCall(call: CallMessage, setting: Setting): Promise<unknown> {
  switch (call.kind) {
    case 'tool':
      return await runTool(call, setting);
    case 'score':
      return await runScorer(call, setting);
    case 'provider':
      return await runProvider(call, setting);
  }
}

async function runProvider(call: ProviderMessage, setting: Setting): Promise<unknown> {
  const provider = find<ProviderDefinition>('provider', call.name, setting);
  const { request, apiKey, baseUrl } = call;
  const context = { apiKey, baseUrl, signal: setting.signal };
  return request === null ? await provider.checkHealth?.(context) : await provider.call(request, context);
}

async function runTool(call: ToolMessage, setting: Setting): Promise<ToolAnswer> {
  const tool = find<ToolDefinition<ObjectSchema>>('tool', call.name, setting);
  const { args, kind: _kind, name, ...context } = call;
  const parsed = await parse(tool.parameters, args);
  if (parsed.kind === 'wrong') return { status: 'error', text: `${name} was not run. ${parsed.why}` };
  const output = await tool.execute(parsed.value as never, { ...context, signal: setting.signal });
  return { status: 'success', text: toOutput(isStream(output) ? await collect(output) : output) };
}

const isStream = (output: unknown): output is AsyncIterable<Json> =>
  typeof output === 'object' && output !== null && Symbol.asyncIterator in output;

/** What a tool gave piece by piece: one text when the pieces are texts, else a list. */
async function collect(pieces: AsyncIterable<Json>): Promise<Json> {
  const all: Json[] = [];
  for await (const piece of pieces) all.push(piece);
  return all.every((piece) => typeof piece === 'string') ? all.join('') : all;
}

function toOutput(output: Json | undefined | void): string {
  const whole = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  if (whole.length <= OUTPUT_LIMIT) return whole.toWellFormed();
  return `${whole.slice(0, OUTPUT_LIMIT).toWellFormed()}\n[... ${whole.length - OUTPUT_LIMIT} of ${whole.length} characters cut ...]`;
}

async function runScorer(call: ScoreMessage, setting: Setting): Promise<ScorerVerdict> {
  const scorer = find<ScorerDefinition<ObjectSchema>>('scorer', call.name, setting);
  const options = await parse(scorer.options, call.options);
  if (options.kind === 'wrong') return unscored('bad_options', options.why);
  const attempt = {
    answer: call.answer,
    target: call.targets[0] ?? null,
    targets: call.targets,
    case: call.testCase,
    transcript: call.transcript,
    threshold: call.threshold,
    modelId: call.modelId,
    context: call.context,
    signal: setting.signal,
  };
  try {
    const given: unknown = await scorer.score(attempt, options.value as never);
    return checkVerdict(toVerdict(given, call.threshold), {
      name: call.shownName,
      threshold: call.threshold,
    });
  } catch (error) {
    return unscored('scorer_failed', `it threw ${formatError(toErrorFacts(error, setting.url))}`);
  }
}

/** What a scorer gave, in the form of the contract; whether it keeps the contract is checked after. */
function toVerdict(given: unknown, threshold: number): unknown {
  const record = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : null;
  const value = toNumber(record === null ? given : record['value']);
  const explanation = record?.['explanation'] ?? '';
  if (value === null) {
    const text = typeof explanation === 'string' && explanation !== '' ? explanation : 'it gave no judgement';
    return unscored('abstained', text);
  }
  const pass = typeof value === 'number' ? value >= threshold : false;
  const metrics = readValue(record?.['metrics'] ?? {});
  return {
    kind: 'scored',
    value,
    pass,
    explanation,
    metrics: metrics.problems.length > 0 ? null : metrics.value,
  };
}

const toNumber = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value);

function find<Definition>(kind: string, name: string, { definitions }: Setting): Definition {
  const found = definitions.get(`${kind} ${name}`);
  if (found === undefined) throw new Error(`the module has no ${kind} "${name}"`);
  return found as Definition;
}

type Parsed =
  | { readonly kind: 'right'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly why: string };

/** Arguments as their schema reads them: zod's own output, or the value itself once it fits a JSON Schema. */
async function parse(schema: object | undefined, value: JsonObject): Promise<Parsed> {
  if (schema === undefined) return { kind: 'right', value };
  if (!('_zod' in schema)) {
    // The validator is big, and most modules need none.
    const { listSchemaErrors, toValidator } = await import('../scorers/json-schema.ts');
    const errors = listSchemaErrors(toValidator(schema), value);
    return errors.length === 0 ? { kind: 'right', value } : { kind: 'wrong', why: errors.join('; ') };
  }
  const result = await (schema as unknown as ZodType).safeParseAsync(value);
  if (result.success) return { kind: 'right', value: result.data };
  const why = result.error.issues.map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`);
  return { kind: 'wrong', why: why.join('; ') };
}
