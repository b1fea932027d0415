import { isNarrower, type NetworkPhases, type NetworkPolicy } from './network-policy.ts';
import { namesOfLimits, type ResourceName } from './resources.ts';
import type { SessionSpec } from './run.ts';

/** What an environment can do on one host, at one time. */
export type EnvironmentAbilities = {
  /** Why no session can be opened, with what to do; null = it can. */
  readonly problem: string | null;
  /** Network policies that hold in a session. */
  readonly networks: readonly NetworkPolicy['mode'][];
  /** Whether a live session can go from one policy to another. */
  readonly switchesNetwork: boolean;
  /** Whether a session reaches a server of the worker, such as the recording proxy. */
  readonly reachesWorker: boolean;
  /** Limits that hold. */
  readonly resources: readonly ResourceName[];
  /** Why something above is missing; words for a person. */
  readonly notes: readonly string[];
};

/** By kind of environment. */
export type HostAbilities = { readonly [kind: string]: EnvironmentAbilities };

/** What a request asks of its environment. */
export type EnvironmentNeeds = {
  readonly spec: SessionSpec;
  /** Its agent calls models through the recording proxy. */
  readonly proxy: boolean;
};

/** What of it a host cannot hold, in words; empty = it can be opened there. */
export function findUnable(
  { spec, proxy }: EnvironmentNeeds,
  abilities: EnvironmentAbilities,
): readonly string[] {
  if (abilities.problem !== null) return [abilities.problem];
  const notes = abilities.notes.length === 0 ? '' : ` (${abilities.notes.join('; ')})`;
  const { baseline, run, evaluation } = spec.network;
  const modes = new Set([baseline, run, evaluation].map(({ mode }) => mode));
  const missing = [...modes].filter((mode) => !abilities.networks.includes(mode));
  const problems = missing.map(
    (mode) => `environment ${spec.kind} cannot hold network "${mode}" here${notes}`,
  );
  if (changes(spec.network) && !abilities.switchesNetwork) {
    problems.push(`environment ${spec.kind} cannot change the network of an open session${notes}`);
  }
  if (proxy && !abilities.reachesWorker)
    problems.push(`environment ${spec.kind} reaches no recording proxy here${notes}`);
  for (const limit of namesOfLimits(spec.resources)) {
    if (abilities.resources.includes(limit)) continue;
    problems.push(
      `environment ${spec.kind} cannot hold the limit resources.${limit} here${notes}; remove it`,
    );
  }
  return problems;
}

const changes = ({ baseline, run, evaluation }: NetworkPhases): boolean =>
  [
    [baseline, run],
    [run, evaluation],
  ].some(
    ([from, to]) => from !== undefined && to !== undefined && (isNarrower(to, from) || isNarrower(from, to)),
  );
