import { z } from 'zod';
import type { ZodType } from 'zod';
import type { Json } from '../domain/json.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import type { Tool, ToolContext, ToolPolicy, ToolResult } from './tool.ts';

/** A call of a tool that acts in a session. */
export type SessionContext = ToolContext & { readonly session: EnvironmentSession };

/** A tool whose arguments are checked by a zod schema before it runs; what is wrong is told to the model. */
export function createTool<Arguments>(definition: {
  readonly name: string;
  readonly description: string;
  readonly parameters: ZodType<Arguments>;
  readonly policy: ToolPolicy;
  readonly run: (args: Arguments, context: SessionContext) => Promise<ToolResult>;
}): Tool {
  const { name, description, parameters, policy } = definition;
  return {
    schema: { name, description, parameters: toParameters(parameters) },
    policy,
    place: 'session',
    run: async (args, context) => {
      const parsed = parameters.safeParse(args);
      const { session } = context;
      if (session === null) return { status: 'error', text: `${name} was not run: it needs an environment.` };
      if (parsed.success) return definition.run(parsed.data, { ...context, session });
      const problems = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
      );
      return { status: 'error', text: `${name} was not run. ${problems.join('; ')}` };
    },
  };
}

/** JSON Schema of what the model sends. The dialect's address is left out: some providers refuse it. */
function toParameters(schema: ZodType): Json {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters as Json;
}
