import { z } from 'zod';
import type { ZodType } from 'zod';
import type { Json, JsonObject } from '../domain/json.ts';
import { toToolPolicy, type ToolPolicyChange } from '../domain/tool-policy.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import type { Tool, ToolContext, ToolResult } from './tool.ts';

/** A call of a tool that acts in a session. */
export type SessionContext = ToolContext & { readonly session: EnvironmentSession };

/** A tool whose arguments are checked by a zod schema before it runs; what is wrong is told to the model. */
export function createTool<Arguments>(definition: {
  readonly name: string;
  readonly description: string;
  readonly parameters: ZodType<Arguments>;
  /** What is not the default of `toToolPolicy`. */
  readonly policy: ToolPolicyChange;
  readonly run: (args: Arguments, context: SessionContext) => Promise<ToolResult>;
}): Tool {
  const { name, description, parameters, policy } = definition;
  return {
    schema: { name, description, parameters: toParameters(parameters) },
    policy: toToolPolicy(policy),
    place: 'session',
    run: async (args, context) => {
      const { session } = context;
      if (session === null) return { status: 'error', text: `${name} was not run: it needs an environment.` };
      const parsed = parseArguments(name, parameters, args);
      return parsed.kind === 'wrong'
        ? { status: 'error', text: parsed.text }
        : definition.run(parsed.value, { ...context, session });
    },
  };
}

type Parsed<Arguments> =
  | { readonly kind: 'right'; readonly value: Arguments }
  | { readonly kind: 'wrong'; readonly text: string };

/** Arguments as their schema reads them, or what is wrong in words for the model. */
export function parseArguments<Arguments>(
  name: string,
  parameters: ZodType<Arguments>,
  args: JsonObject,
): Parsed<Arguments> {
  const parsed = parameters.safeParse(args);
  if (parsed.success) return { kind: 'right', value: parsed.data };
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
  );
  return { kind: 'wrong', text: `${name} was not run. ${problems.join('; ')}` };
}

/** JSON Schema of what the model sends. The dialect's address is left out: some providers refuse it. */
export function toParameters(schema: ZodType): Json {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters as Json;
}
