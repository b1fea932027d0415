import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ModuleProvider, RunModule } from '../domain/run-module.ts';
import type { PlugInAnswer, PlugInContext, ProviderDefinition } from '../providers/define-provider.ts';
import type { ProviderMessage } from './child-messages.ts';
import { toError } from './error-facts.ts';
import type { ModulePool } from './module-pool.ts';

/** The kinds of providers of a run file, their code run in a process of its own. */
export const createModuleProviders = (pool: ModulePool, module: RunModule): readonly ProviderDefinition[] =>
  module.providers.map((provider) => createModuleProvider({ pool, module, provider }));

type Parts = {
  readonly pool: ModulePool;
  readonly module: RunModule;
  readonly provider: ModuleProvider;
};

const createModuleProvider = (parts: Parts): ProviderDefinition => {
  const { kind, baseUrl, apiKeyEnv, params, checksHealth } = parts.provider;
  return {
    kind,
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(apiKeyEnv === null ? {} : { apiKeyEnv }),
    ...(params === null ? {} : { params: toParamsSchema(params) }),
    call: async (request, context) => (await ask(parts, { request }, context)) as PlugInAnswer,
    ...(checksHealth
      ? { checkHealth: async (context) => readReason(await ask(parts, { request: null }, context)) }
      : {}),
  };
};

export const toParamsSchema = (params: JsonObject): z.ZodType => z.fromJSONSchema(params as never);

async function ask(
  { pool, module, provider }: Parts,
  { request }: Pick<ProviderMessage, 'request'>,
  { apiKey, baseUrl, signal }: PlugInContext,
): Promise<unknown> {
  const message = { kind: 'provider', name: provider.kind, request, apiKey, baseUrl } as const;
  const end = await pool.callShared(module, message, signal);
  switch (end.kind) {
    case 'answered':
      return end.answer;
    case 'failed':
      throw toError(end.error);
    case 'crashed':
    case 'timeout': {
      const why = end.kind === 'crashed' ? end.message : 'its call did not end';
      // To the classifier this is a connection that broke: the call may be sent again.
      throw Object.assign(new Error(`provider "${provider.kind}" broke off: ${why}`), { code: 'ECONNRESET' });
    }
  }
}

const readReason = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
