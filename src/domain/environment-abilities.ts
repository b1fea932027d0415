import type { NetworkPolicy } from './network-policy.ts';
import type { ResourceName } from './resources.ts';

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
