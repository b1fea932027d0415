import { z } from 'zod';
import type { ZodType } from 'zod';
import type { FinishReason } from '../domain/transcript.ts';
import type { Usage } from '../domain/usage.ts';
import type { ModelRequest } from './provider.ts';

/** What a plug-in's model said. What is left out is empty or unknown, never guessed. */
export type PlugInAnswer = {
  readonly text?: string;
  /** Thoughts, kept apart from the text. */
  readonly reasoning?: string;
  /** `arguments` as an object, or as the text that the model wrote. */
  readonly toolCalls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments: string | { readonly [name: string]: unknown };
  }[];
  /** `tool_calls` where there are calls, else `stop`. */
  readonly finishReason?: FinishReason;
  /** Token counts; null or left out = the provider did not say. */
  readonly usage?: Partial<Usage>;
  readonly costUsd?: number;
  readonly answerId?: string;
  readonly notes?: readonly string[];
};

export type PlugInContext = {
  /** From the variable that `apiKeyEnv` names, or null. */
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  /** Ends with the attempt, the run, or the call's time. */
  readonly signal: AbortSignal;
};

/** A kind of provider of your own. */
export type ProviderDefinition = {
  /** The name that run files give as `providers[].kind`: lower case letters, digits and `-`. */
  readonly kind: string;
  /** Where the run file says nothing. */
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  /** Checks `models[].params` before anything is sent; without it all are taken as they are. */
  readonly params?: ZodType;
  /**
   * Sends one request and never retries: Assay does. Throw an error with `status`, `code`, `headers`
   * (`retry-after`) where there are some: Assay's classifier reads them and decides about retries and the
   * breaker.
   */
  call(request: ModelRequest, context: PlugInContext): Promise<PlugInAnswer>;
  /** Null = it answers, else the reason why not; without it the provider counts as there. */
  checkHealth?(context: PlugInContext): Promise<string | null>;
};

const method = z.custom((value) => typeof value === 'function', { error: 'expected a function' });

const definitionSchema = z.strictObject({
  kind: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
    error: 'expected lower case letters, digits and "-", at most 40, a letter first',
  }),
  baseUrl: z.url({ protocol: /^https?$/, error: 'expected an http or https address' }).optional(),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable, not a key' })
    .optional(),
  params: z
    .custom((value) => typeof value === 'object' && value !== null && '_zod' in value, {
      error: 'expected a zod schema',
    })
    .optional(),
  call: method,
  checkHealth: method.optional(),
});

/**
 * Declares a kind of provider. Throws an error that names every wrong field; a TypeScript run file hands
 * the result to Assay, and its `providers[].kind` names it.
 */
export function defineProvider(definition: ProviderDefinition): ProviderDefinition {
  const read = definitionSchema.safeParse(definition);
  if (read.success) return definition;
  const lines = read.error.issues.map(({ path, message }) => `${path.join('.') || 'definition'}: ${message}`);
  throw new TypeError(`defineProvider: ${lines.join('; ')}`);
}
