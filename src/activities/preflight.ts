import { hostname } from 'node:os';
import { callsProvider } from '../domain/calls-provider.ts';
import type { SkippedModel } from '../domain/plan.ts';
import { redactPatterns } from '../domain/redact.ts';
import type { RunModule } from '../domain/run-module.ts';
import type { ModelSpec, ProviderSpec, RunSpec } from '../domain/run.ts';
import { checkParams } from '../providers/lookup.ts';
import { listHeldKeys } from '../store/worker-keys.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';

const HEALTH_TIMEOUT_MS = 6_000;

/**
 * What can be found out before anything is spent: throws `InvalidRun` with every problem, and
 * returns the models to skip, each with its reason.
 */
export async function preflight(dependencies: Dependencies, spec: RunSpec): Promise<readonly SkippedModel[]> {
  const used = spec.models.filter((model) =>
    spec.requests.some((request) => callsProvider(request) && request.modelIds.includes(model.id)),
  );
  const { judges = [] } = spec;
  const named = [
    ...used.map((model) => ({ model, name: `model "${model.id}"` })),
    ...judges.map((model) => ({ model, name: `judge "${model.id}"` })),
  ];
  const problems = named.flatMap(({ model, name }) => {
    const provider = providerOf(spec, model);
    // Parameters of the run file's own kinds were checked where the file was read.
    if (spec.module?.providers.some(({ kind }) => kind === provider.kind) === true) return [];
    const problems = checkParams({ kind: provider.kind, model: model.model, params: model.params });
    return problems.map((problem) => `${name}: ${problem}`);
  });
  if (problems.length > 0) throw fatal('InvalidRun', problems.join('\n'));
  const skipped = await findSkipped(dependencies, spec, used);
  if (used.length > 0 && skipped.length === used.length) {
    const lines = skipped.map((one) => `  ${one.modelId}: ${one.reason}`);
    throw fatal('InvalidRun', ['no model can be run:', ...lines].join('\n'));
  }
  await checkJudges(dependencies, spec);
  return skipped;
}

/** A judge that cannot be asked would leave every answer that is paid for without a score. */
async function checkJudges(dependencies: Dependencies, spec: RunSpec): Promise<void> {
  const silent = await findSkipped(dependencies, spec, spec.judges ?? []);
  const lines = silent.map(({ modelId, reason }) => `judge "${modelId}" cannot be asked: ${reason}`);
  if (lines.length > 0) throw fatal('InvalidRun', lines.join('\n'));
}

/** Models whose provider cannot be called at the moment, each with the reason. */
export async function findSkipped(
  dependencies: Dependencies,
  spec: RunSpec,
  models: readonly ModelSpec[],
): Promise<readonly SkippedModel[]> {
  const reasons = await findReasons(dependencies, spec, models);
  return models.flatMap((model) => {
    const reason = reasons.get(model.providerId) ?? null;
    return reason === null ? [] : [{ modelId: model.id, reason }];
  });
}

/** One look at each provider that is used: is its key there, does it answer. */
async function findReasons(
  dependencies: Dependencies,
  spec: RunSpec,
  used: readonly ModelSpec[],
): Promise<ReadonlyMap<string, string | null>> {
  const providers = spec.providers.filter((provider) =>
    used.some((model) => model.providerId === provider.id),
  );
  const entries = providers.map(
    async (provider) => [provider.id, await findReason(dependencies, provider, spec.module)] as const,
  );
  return new Map(await Promise.all(entries));
}

async function findReason(
  { db, readKey, providerFor, redact }: Dependencies,
  provider: ProviderSpec,
  module: RunModule | undefined,
): Promise<string | null> {
  const { apiKeyEnv } = provider;
  if (apiKeyEnv !== null && readKey(apiKeyEnv) === null) {
    // Another worker has it, and will make the calls; it cannot be asked for a look from here.
    if ((await listHeldKeys(db, [apiKeyEnv])).length > 0) return null;
    return (
      `the variable ${apiKeyEnv} is unset or empty where the worker runs (${hostname()}), and no command handed it over; ` +
      'export it and run again (for a worker on another machine: export it there and start that worker again)'
    );
  }
  // An endpoint may say the key that it was sent.
  const clean = (text: string): string => redactPatterns(redact(text));
  try {
    const reason = await providerFor(provider, module).checkHealth(AbortSignal.timeout(HEALTH_TIMEOUT_MS));
    return reason === null ? null : clean(reason);
  } catch (error) {
    return clean(`the health check failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function providerOf(spec: RunSpec, model: ModelSpec): ProviderSpec {
  const provider = spec.providers.find((one) => one.id === model.providerId);
  if (provider === undefined) throw fatal('InvalidRun', `model "${model.id}" names no known provider`);
  return provider;
}
