import { findUnable } from '../domain/environment-abilities.ts';
import type { RequestSpec, RunSpec } from '../domain/run.ts';
import { listLiveHosts, type LiveHost } from '../store/hosts.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';

/** What came of the look at environments; `elsewhere` = another host has to prepare this run. */
export type CheckedEnvironments =
  | { readonly kind: 'checked'; readonly spec: RunSpec }
  | { readonly kind: 'elsewhere'; readonly hostId: string };

/**
 * The run with every image by its exact name. What this host cannot do, another one that lives may: it opens the
 * sessions, and it alone can name its images, so then the run is prepared there, unless this is where it was sent.
 * Throws `InvalidRun` with all that no host can do: policies, changes between phases, limits, images that cannot
 * be had.
 */
export async function checkEnvironments(
  dependencies: Dependencies,
  { spec, isSentHere }: { readonly spec: RunSpec; readonly isSentHere: boolean },
): Promise<CheckedEnvironments> {
  const others = (await listLiveHosts(dependencies.db)).filter(
    ({ hostId }) => hostId !== dependencies.hostId,
  );
  const checks = await Promise.all(spec.requests.map((request) => check(dependencies, request, others)));
  const problems = checks.flatMap((one) => (one.kind === 'problems' ? one.problems : []));
  const places = checks.flatMap((one) => (one.kind === 'elsewhere' ? [one] : []));
  const [host] = (places[0]?.hostIds ?? []).filter((id) =>
    places.every(({ hostIds }) => hostIds.includes(id)),
  );
  if (problems.length === 0 && host !== undefined && !isSentHere) return { kind: 'elsewhere', hostId: host };
  problems.push(...places.flatMap((place) => place.problems));
  if (problems.length > 0) throw fatal('InvalidRun', problems.join('\n'));
  const requests = checks.flatMap((one) => (one.kind === 'request' ? [one.request] : []));
  return { kind: 'checked', spec: { ...spec, requests } };
}

type Check =
  | { readonly kind: 'request'; readonly request: RequestSpec }
  | { readonly kind: 'problems'; readonly problems: readonly string[] }
  | { readonly kind: 'elsewhere'; readonly hostIds: readonly string[]; readonly problems: readonly string[] };

async function check(
  dependencies: Dependencies,
  request: RequestSpec,
  others: readonly LiveHost[],
): Promise<Check> {
  const { environment } = request;
  if (environment.kind === 'none') return { kind: 'request', request };
  const toProblem = (problem: string): string => `request "${request.name}": ${problem}`;
  const provider = dependencies.environmentFor(environment.kind);
  const needs = { spec: environment, proxy: request.harness.kind === 'command' && request.harness.proxy };
  const problems = findUnable(needs, await provider.describe()).map(toProblem);
  if (problems.length > 0) {
    const able = others.filter(({ environments }) => {
      const abilities = environments[environment.kind];
      return abilities !== undefined && findUnable(needs, abilities).length === 0;
    });
    if (able.length === 0) return { kind: 'problems', problems };
    if (environment.image === null) return { kind: 'request', request };
    return { kind: 'elsewhere', hostIds: able.map(({ hostId }) => hostId), problems };
  }
  try {
    const image = await provider.resolveImage(environment.image);
    return { kind: 'request', request: { ...request, environment: { ...environment, image } } };
  } catch (error) {
    return { kind: 'problems', problems: [toProblem((error as Error).message)] };
  }
}
