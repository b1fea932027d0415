export const RESOURCE_NAMES = ['cpus', 'memory', 'pids', 'disk'] as const;
export type ResourceName = (typeof RESOURCE_NAMES)[number];

/** Limits of one session; null = none. */
export type ResourceLimits = {
  /** Processors' worth of time; 0.5 = half of one. */
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  /** What is kept free for the session; the limit may be higher. */
  readonly reservedMemoryBytes: number | null;
  /** Processes and threads at one time. */
  readonly pids: number | null;
  /** Of the working directory and the temporary directory, together or each. */
  readonly diskBytes: number | null;
};

export const NO_LIMITS: ResourceLimits = {
  cpus: null,
  memoryBytes: null,
  reservedMemoryBytes: null,
  pids: null,
  diskBytes: null,
};

/** The limits as they hold, which may be rounded, and by what. */
export type EnforcedResources = ResourceLimits & { readonly by: string | null };

export const NOT_ENFORCED: EnforcedResources = { ...NO_LIMITS, by: null };

/** Names of the limits that are asked for. */
export function namesOfLimits(limits: ResourceLimits): readonly ResourceName[] {
  const values = { cpus: limits.cpus, memory: limits.memoryBytes, pids: limits.pids, disk: limits.diskBytes };
  return RESOURCE_NAMES.filter((name) => values[name] !== null);
}
