import {
  ALL_PUBLIC,
  parseNetworkTarget,
  type NetworkPhases,
  type NetworkPolicy,
} from '../domain/network-policy.ts';
import { NO_LIMITS, type ResourceLimits } from '../domain/resources.ts';
import type { EnvironmentSpec } from '../domain/run.ts';
import type { EnvironmentEntry, NetworkEntry, PolicyEntry, ResourcesEntry } from './environment-schema.ts';
import type { Finding, Path } from './problem.ts';

type Report = (finding: Finding) => void;

/** What a request says of its environment, with defaults; parts that are wrong are reported. */
export function resolveEnvironment(given: EnvironmentEntry, report: Report): EnvironmentSpec {
  const entry = typeof given === 'string' ? { kind: given } : given;
  if (entry.kind === 'none') return { kind: 'none' };
  const written = typeof given === 'string' || given.kind === 'none' ? null : given;
  const image = findImage(given, report);
  if (written === null) return { ...PLAIN, kind: entry.kind, image };
  for (const variable of Object.keys(written.variables)) {
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) continue;
    const message = `"${variable}" cannot be the name of an environment variable`;
    report({ path: ['environment', 'variables', variable], at: 'key', message });
  }
  const network = toPhases(written.network, report);
  const resources = toLimits(written.resources);
  if (written.kind === 'host') checkHost({ network, resources }, report);
  return {
    kind: written.kind,
    variables: written.variables,
    image,
    network,
    resources,
    keepMs: written.keep,
  };
}

const PLAIN = { variables: {}, network: ALL_PUBLIC, resources: NO_LIMITS, keepMs: null };

function findImage(given: EnvironmentEntry, report: Report): string | null {
  const kind = typeof given === 'string' ? given : given.kind;
  if (typeof given !== 'string' && given.kind === 'docker') return given.image;
  if (kind === 'docker') {
    const message = 'environment docker needs an image: { kind: docker, image: "python:3.12-slim" }';
    report({ path: ['environment'], message, expected: 'a map with image', got: 'docker' });
  }
  if (typeof given === 'string' || given.kind !== 'bubblewrap' || given.root === undefined) return null;
  if (given.root.startsWith('/')) return given.root;
  const message = 'must be an absolute path of the machine that the worker runs on';
  report({ path: ['environment', 'root'], message, got: given.root });
  return null;
}

function toPhases(given: NetworkEntry | undefined, report: Report): NetworkPhases {
  if (given === undefined) return ALL_PUBLIC;
  const path = ['environment', 'network'];
  if (typeof given === 'string' || 'allow' in given) {
    const policy = toPolicy(given, path, report);
    return { baseline: policy, run: policy, evaluation: policy };
  }
  return {
    baseline: toPolicy(given.baseline, [...path, 'baseline'], report),
    run: toPolicy(given.run, [...path, 'run'], report),
    evaluation: toPolicy(given.evaluation, [...path, 'evaluation'], report),
  };
}

function toPolicy(given: PolicyEntry, path: Path, report: Report): NetworkPolicy {
  if (typeof given === 'string') return { mode: given };
  given.allow.forEach((target, index) => {
    if (parseNetworkTarget(target) !== null) return;
    const expected = 'a host, "*.host", an address or a range such as 10.0.0.0/8, with :port if wanted';
    const message = `"${target}" is no target of a network policy; expected ${expected}`;
    report({ path: [...path, 'allow', index], message, expected, got: target });
  });
  return { mode: 'allowlist', allow: given.allow };
}

const toLimits = (given: ResourcesEntry | undefined): ResourceLimits => ({
  cpus: given?.cpus ?? null,
  memoryBytes: given?.memory ?? null,
  reservedMemoryBytes: given?.reservedMemory ?? null,
  pids: given?.pids ?? null,
  diskBytes: given?.disk ?? null,
});

/** Known without asking a worker: host is not a sandbox. */
function checkHost(
  given: { readonly network: NetworkPhases; readonly resources: ResourceLimits },
  report: Report,
): void {
  const { baseline, run, evaluation } = given.network;
  if ([baseline, run, evaluation].some(({ mode }) => mode !== 'public')) {
    const message = 'environment host cannot cut the network: choose bubblewrap or docker';
    report({ path: ['environment', 'network'], message, expected: 'public' });
  }
  if (Object.values(given.resources).some((limit) => limit !== null)) {
    const message = 'environment host holds no limits: choose bubblewrap or docker';
    report({ path: ['environment', 'resources'], message });
  }
}
