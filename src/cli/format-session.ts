import type { EnforcedResources } from '../domain/resources.ts';
import type { SessionDetail } from '../store/attempt-detail.ts';

/** One session of an attempt with the limits as they held. */
export const formatSession = ({
  tryNumber,
  purpose,
  kind,
  hostId,
  state,
  resources,
}: Omit<SessionDetail, 'createdAt' | 'openedAt' | 'closedAt'>): string =>
  `try ${tryNumber}, ${purpose}: ${kind} on host ${hostId}, ${STATES[state]}; ${formatLimits(resources)}`;

const STATES: { readonly [state in SessionDetail['state']]: string } = {
  intent: 'being opened',
  open: 'open',
  retained: 'kept',
  closed: 'closed',
};

function formatLimits(resources: EnforcedResources | null): string {
  if (resources === null) return 'limits unknown';
  const { cpus, memoryBytes, reservedMemoryBytes, pids, diskBytes, by } = resources;
  const limits = [
    ...(cpus === null ? [] : [`cpus ${cpus}`]),
    ...(memoryBytes === null ? [] : [`memory ${toMebibytes(memoryBytes)}`]),
    ...(reservedMemoryBytes === null ? [] : [`of it reserved ${toMebibytes(reservedMemoryBytes)}`]),
    ...(pids === null ? [] : [`pids ${pids}`]),
    ...(diskBytes === null ? [] : [`disk ${toMebibytes(diskBytes)}`]),
  ];
  return limits.length === 0 ? 'no limits' : `${limits.join(', ')}${by === null ? '' : ` (held by ${by})`}`;
}

const toMebibytes = (bytes: number): string => `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;
