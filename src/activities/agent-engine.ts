import { posix } from 'node:path';
import type { CommandHarness } from '../domain/command-harness.ts';
import type { RunPlan } from '../domain/plan.ts';
import type { RequestSpec } from '../domain/run.ts';
import { toEngineId, toReadableId } from '../providers/lookup.ts';

/**
 * What can be down: the command of an agent in what its sessions start from. The whole command, because a shell that
 * starts another program says nothing about that one.
 */
export function toAgentEngineId(
  { environment }: Pick<RequestSpec, 'environment'>,
  { command }: Pick<CommandHarness, 'command'>,
): string {
  const image = environment.kind === 'none' ? null : environment.image;
  const [program = ''] = command;
  return toReadableId(`command-${posix.basename(program).slice(0, 40)}`, [command, environment.kind, image]);
}

/** The programs of a run's external agents, as engines. */
export const listAgentEngines = ({ requests }: Pick<RunPlan['spec'], 'requests'>): readonly string[] =>
  requests.flatMap((request) =>
    request.harness.kind === 'command' ? [toAgentEngineId(request, request.harness)] : [],
  );

/** Whose cells need an engine: these models under these requests. */
export type EngineUse = { readonly modelIds: readonly string[]; readonly requests: readonly number[] };

/** A provider is called by every request but those whose external agents go their own ways. */
export function findEngineUse({ spec }: RunPlan, engineId: string): EngineUse {
  const numbered = [...spec.requests.entries()];
  const agents = numbered.filter(
    ([, one]) => one.harness.kind === 'command' && toAgentEngineId(one, one.harness) === engineId,
  );
  if (agents.length > 0)
    return { modelIds: spec.models.map(({ id }) => id), requests: agents.map(([index]) => index) };
  const providers = spec.providers.filter((one) => toEngineId(one) === engineId).map(({ id }) => id);
  const models = spec.models.filter(({ providerId }) => providers.includes(providerId));
  const callers = numbered.filter(([, { harness }]) => harness.kind !== 'command' || harness.proxy);
  return { modelIds: models.map(({ id }) => id), requests: callers.map(([index]) => index) };
}

/** As people know it: the provider's id with its address, or the agent's program. */
export function nameEngine({ spec }: RunPlan, engineId: string): string {
  for (const request of spec.requests) {
    const { harness } = request;
    if (harness.kind === 'command' && toAgentEngineId(request, harness) === engineId)
      return `"${harness.command[0] ?? ''}"`;
  }
  const provider = spec.providers.find((one) => toEngineId(one) === engineId);
  if (provider === undefined) return engineId;
  return provider.baseUrl === null ? provider.id : `${provider.id} at ${provider.baseUrl}`;
}
