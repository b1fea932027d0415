import * as z from 'zod';
import type { Catalog } from '../config/catalog.ts';
import { checkShape } from '../config/check-shape.ts';
import { toProblem, type Problem } from '../config/problem.ts';
import { EXPECTED, jsonObject, name, object, positiveDuration, variableName } from '../config/shapes.ts';
import { within, type Source } from '../config/source.ts';
import type { ModuleProvider, ModuleScorer, ModuleTool } from '../domain/run-module.ts';
import { findPolicyProblem, toToolPolicy } from '../domain/tool-policy.ts';
import type { GivenDefinition, ModuleDescription } from './child-messages.ts';
import { FUNCTION } from './describe-definition.ts';
import { toOptionsSchema } from './options-schema.ts';

const expecting = (what: string) => ({ error: `${EXPECTED}${what}` });

const code = z.literal(FUNCTION, expecting('a function'));
const schema = z.looseObject(
  { type: z.literal('object', expecting('"object": a schema of named arguments')) },
  expecting('a zod object, or the JSON Schema of an object'),
);

const toolSchema = object({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, expecting('a name of 1 to 64 letters, digits, "_" and "-"')),
  description: name,
  parameters: schema,
  idempotent: z.boolean().default(false),
  timeout: positiveDuration.prefault('60s'),
  maxAttempts: z.int().min(1).max(10).optional(),
  onUnknown: z.enum(['refuse', 'ask', 'rerun', 'skip']).optional(),
  execute: code,
});

const scorerSchema = object({
  name,
  options: schema.optional(),
  needsTarget: z.boolean().default(false),
  timeout: positiveDuration.prefault('60s'),
  score: code,
});

const providerSchema = object({
  kind: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,39}$/, expecting('lower case letters, digits and "-", a letter first')),
  baseUrl: name.optional(),
  apiKeyEnv: variableName.optional(),
  params: schema.optional(),
  call: code,
  checkHealth: code.optional(),
});

export type CheckedDefinitions = {
  readonly tools: readonly ModuleTool[];
  readonly scorers: readonly ModuleScorer[];
  readonly providers: readonly ModuleProvider[];
};

type Checking = { readonly source: Source; readonly problems: Problem[]; readonly catalog: Catalog };

/** The tools and scorers of a module, checked like the parts of a run file, defaults filled in. */
export function checkDefinitions(description: ModuleDescription, checking: Checking): CheckedDefinitions {
  const { catalog } = checking;
  const tools = checkNames(description.tools, { ...checking, word: 'tool', taken: catalog.tools });
  const kinds = new Set(catalog.scorers.keys());
  const scorers = checkNames(description.scorers, { ...checking, word: 'scorer', taken: kinds });
  const known = new Set(catalog.providers.keys());
  const providers = checkNames(description.providers, {
    ...checking,
    word: 'provider kind',
    taken: known,
    field: 'kind',
  });
  return {
    tools: tools.flatMap((one) => checkTool(one, checking)),
    scorers: scorers.flatMap((one) => checkScorer(one, checking)),
    providers: providers.flatMap((one) => checkProvider(one, checking)),
  };
}

type Naming = Checking & {
  readonly word: string;
  readonly taken: ReadonlySet<string>;
  readonly field?: string;
};

/** Names are unique, and none is that of something built in. */
function checkNames(list: readonly GivenDefinition[], naming: Naming): readonly GivenDefinition[] {
  const { field = 'name' } = naming;
  const seen = new Set<unknown>();
  return list.filter((one) => {
    const given = toName(one, field);
    if (typeof given !== 'string') return true;
    const why = naming.taken.has(given)
      ? `"${given}" is the name of a built-in ${naming.word}: give it another`
      : seen.has(given)
        ? `two ${naming.word}s are called "${given}": give one of them another name`
        : null;
    seen.add(given);
    if (why !== null) {
      naming.problems.push(toProblem(within(naming.source, one.path), { path: [field], message: why }));
    }
    return why === null;
  });
}

const toName = ({ given }: GivenDefinition, field: string): unknown =>
  typeof given === 'object' && given !== null && !Array.isArray(given)
    ? Reflect.get(given, field)
    : undefined;

function checkTool({ path, given }: GivenDefinition, { source, problems }: Checking): readonly ModuleTool[] {
  const at = within(source, path);
  const tool = checkShape(toolSchema, given, { source: at, problems });
  if (tool === null) return [];
  const { timeout: timeoutMs, idempotent, maxAttempts, onUnknown } = tool;
  const policy = toToolPolicy({
    idempotent,
    timeoutMs,
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(onUnknown === undefined ? {} : { onUnknown }),
  });
  const problem = findPolicyProblem(policy);
  if (problem !== null) problems.push(toProblem(at, { path: ['maxAttempts'], message: problem }));
  const parameters = tool.parameters as ModuleTool['schema']['parameters'];
  return [{ schema: { name: tool.name, description: tool.description, parameters }, policy }];
}

function checkScorer(
  { path, given }: GivenDefinition,
  { source, problems }: Checking,
): readonly ModuleScorer[] {
  const at = within(source, path);
  const scorer = checkShape(scorerSchema, given, { source: at, problems });
  if (scorer === null) return [];
  const options = scorer.options === undefined ? null : jsonObject.parse(scorer.options);
  const { name: kind, needsTarget, timeout } = scorer;
  const checked = { name: kind, needsTarget, timeoutMs: timeout, options };
  try {
    toOptionsSchema(checked);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problems.push(toProblem(at, { path: ['options'], message: `not a JSON Schema: ${why}` }));
    return [];
  }
  return [checked];
}

function checkProvider(
  { path, given }: GivenDefinition,
  { source, problems }: Checking,
): readonly ModuleProvider[] {
  const provider = checkShape(providerSchema, given, { source: within(source, path), problems });
  if (provider === null) return [];
  const { kind, baseUrl = null, apiKeyEnv = null, params, checkHealth } = provider;
  return [
    {
      kind,
      baseUrl,
      apiKeyEnv,
      params: params === undefined ? null : jsonObject.parse(params),
      checksHealth: checkHealth !== undefined,
    },
  ];
}
