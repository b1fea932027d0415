import { ALL_PUBLIC } from '../domain/network-policy.ts';
import { NO_LIMITS } from '../domain/resources.ts';
import type { EnvironmentSpec, ModelSpec, ProviderSpec, RunSpec } from '../domain/run.ts';
import { providerSchema } from './run-file.ts';

/** What the command line changes in a run file; absent = as the file says. */
export type RunOverrides = {
  readonly name?: string;
  /** Attempts of each case, all requests. */
  readonly attempts?: number;
  readonly taskConcurrency?: number;
  readonly seed?: number;
  readonly packing?: 'auto' | 'off';
  readonly maxRunUsd?: number;
  /** Where sessions are opened instead; requests without an environment stay without. */
  readonly environment?: 'host' | 'bubblewrap';
  /** Replaces every model of the file by these ones behind one OpenAI-compatible address. */
  readonly endpoint?: {
    readonly baseUrl: string;
    readonly models: readonly string[];
    /** Name of the variable that holds the key; null = none is sent. */
    readonly apiKeyEnv: string | null;
  };
};

export function applyOverrides(spec: RunSpec, overrides: RunOverrides): RunSpec {
  const { attempts, taskConcurrency, seed, packing, maxRunUsd, endpoint, environment } = overrides;
  const replaced = endpoint === undefined ? spec : replaceModels(spec, endpoint);
  return {
    ...replaced,
    name: overrides.name ?? spec.name,
    requests: replaced.requests.map((request) => ({
      ...request,
      attempts: { ...request.attempts, k: attempts ?? request.attempts.k },
      environment: replaceEnvironment(request.environment, environment),
    })),
    execution: {
      ...spec.execution,
      taskConcurrency: taskConcurrency ?? spec.execution.taskConcurrency,
      seed: seed ?? spec.execution.seed,
      packing: packing ?? spec.execution.packing,
    },
    budgets: { ...spec.budgets, maxRunUsd: maxRunUsd ?? spec.budgets.maxRunUsd },
  };
}

/** What it is made of stays, as far as the other can do it: `host` cuts no network and holds no limits. */
function replaceEnvironment(spec: EnvironmentSpec, kind: RunOverrides['environment']): EnvironmentSpec {
  if (kind === undefined || spec.kind === 'none' || spec.kind === kind) return spec;
  const moved = { ...spec, kind, image: null };
  return kind === 'host' ? { ...moved, network: ALL_PUBLIC, resources: NO_LIMITS } : moved;
}

function replaceModels(spec: RunSpec, endpoint: Exclude<RunOverrides['endpoint'], undefined>): RunSpec {
  const { timeouts, retry } = providerSchema.parse({ id: 'endpoint', kind: 'openai-compatible' });
  const provider: ProviderSpec = {
    id: 'endpoint',
    kind: 'openai-compatible',
    baseUrl: endpoint.baseUrl,
    apiKeyEnv: endpoint.apiKeyEnv,
    concurrency: 'auto',
    requestsPerMinute: null,
    tokensPerMinute: null,
    retry: { max: retry.max, baseMs: retry.base },
    stream: false,
    timeouts: { connectMs: timeouts.connect, firstByteMs: timeouts.firstByte, idleMs: timeouts.idle },
  };
  const models = endpoint.models.map((model): ModelSpec => ({
    id: model,
    providerId: provider.id,
    model,
    params: {},
    price: null,
  }));
  const modelIds = models.map(({ id }) => id);
  return {
    ...spec,
    providers: [
      provider,
      ...spec.providers.filter(({ id }) => spec.judges?.some(({ providerId }) => providerId === id) === true),
    ],
    models,
    requests: spec.requests.map((request) => ({ ...request, modelIds })),
  };
}
