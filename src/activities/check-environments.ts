import { findUnable } from '../domain/environment-abilities.ts';
import { findNextToPrepare, type RequestStand } from '../domain/request-order.ts';
import type { RequestSpec, RunSpec } from '../domain/run.ts';
import { listLiveHosts, type LiveHost } from '../store/hosts.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';

/** A request after the look at its environment. */
export type CheckedRequest =
  /** Every image by its exact name. */
  | { readonly kind: 'ready'; readonly spec: RequestSpec }
  | { readonly kind: 'failed'; readonly spec: RequestSpec; readonly problem: string }
  /** It is prepared later, while earlier ones run. */
  | { readonly kind: 'waiting'; readonly spec: RequestSpec };

/** What came of the look at environments; `elsewhere` = another host has to prepare this run. */
export type CheckedEnvironments =
  | { readonly kind: 'checked'; readonly requests: readonly CheckedRequest[] }
  | { readonly kind: 'elsewhere'; readonly hostId: string };

/**
 * The requests of a run, each with its image by its exact name as far as it is due: a later one waits while earlier
 * ones have plenty to do. What this host cannot do, another one that lives may: it opens the sessions, and it alone
 * can name its images, so then the run is prepared there, unless this is where it was sent. Throws `InvalidRun` with
 * all that no host can do (policies, changes between phases, limits), and when no request could be prepared.
 */
export async function checkEnvironments(
  dependencies: Dependencies,
  {
    spec,
    tasks,
    isSentHere,
  }: { readonly spec: RunSpec; readonly tasks: readonly number[]; readonly isSentHere: boolean },
): Promise<CheckedEnvironments> {
  const others = await listOthers(dependencies);
  await checkAbilities(dependencies, spec, others);
  const requests: CheckedRequest[] = spec.requests.map((request) =>
    hasImage(request) ? { kind: 'waiting', spec: request } : { kind: 'ready', spec: request },
  );
  const toStand = ({ kind }: CheckedRequest, index: number): RequestStand => ({
    preparation: kind === 'ready' ? 'done' : kind,
    pending: tasks[index] ?? 0,
    active: 0,
  });
  for (;;) {
    const next = findNextToPrepare(requests.map(toStand), spec.execution.taskConcurrency);
    const request = next === null ? undefined : spec.requests[next];
    if (next === null || request === undefined) break;
    const resolved = await resolveRequest(dependencies, request, { others, isSentHere });
    if (resolved.kind === 'elsewhere') {
      const isFirst = requests.slice(0, next).every(({ kind }) => kind === 'failed');
      if (isFirst) return resolved;
      // Its own host is asked when the run goes on.
      break;
    }
    requests[next] = resolved;
  }
  const failed = requests.filter((one) => one.kind === 'failed');
  if (failed.length === requests.length)
    throw fatal(
      'InvalidRun',
      failed.map(({ spec: { name }, problem }) => `request "${name}": ${problem}`).join('\n'),
    );
  return { kind: 'checked', requests };
}

/** Whether anything of it has to be found out before its tasks may start. */
const hasImage = ({ environment }: RequestSpec): boolean =>
  environment.kind !== 'none' && environment.image !== null;

export const listOthers = async ({ db, hostId }: Dependencies): Promise<readonly LiveHost[]> =>
  (await listLiveHosts(db)).filter((host) => host.hostId !== hostId);

/** Throws `InvalidRun` with everything that neither this host nor another one can do. */
async function checkAbilities(
  dependencies: Dependencies,
  { requests }: RunSpec,
  others: readonly LiveHost[],
): Promise<void> {
  const looks = requests.map(async (request) => {
    const { problems, hostIds } = await findUnableHere(dependencies, request, others);
    return hostIds.length > 0 ? [] : problems.map((problem) => `request "${request.name}": ${problem}`);
  });
  const problems = (await Promise.all(looks)).flat();
  if (problems.length > 0) throw fatal('InvalidRun', problems.join('\n'));
}

/** What this host cannot do for a request, and those that can. */
async function findUnableHere(
  { environmentFor }: Dependencies,
  { environment, harness }: RequestSpec,
  others: readonly LiveHost[],
): Promise<{ readonly problems: readonly string[]; readonly hostIds: readonly string[] }> {
  if (environment.kind === 'none') return { problems: [], hostIds: [] };
  const needs = { spec: environment, proxy: harness.kind === 'command' && harness.proxy };
  const problems = findUnable(needs, await environmentFor(environment.kind).describe());
  if (problems.length === 0) return { problems, hostIds: [] };
  const able = others.filter(({ environments }) => {
    const abilities = environments[environment.kind];
    return abilities !== undefined && findUnable(needs, abilities).length === 0;
  });
  return { problems, hostIds: able.map(({ hostId }) => hostId) };
}

/** A request with its image by its exact name, or why it cannot have one, or who can find out. */
export async function resolveRequest(
  dependencies: Dependencies,
  request: RequestSpec,
  { others, isSentHere }: { readonly others: readonly LiveHost[]; readonly isSentHere: boolean },
): Promise<
  Exclude<CheckedRequest, { kind: 'waiting' }> | { readonly kind: 'elsewhere'; readonly hostId: string }
> {
  const { environment } = request;
  if (environment.kind === 'none') return { kind: 'ready', spec: request };
  const { problems, hostIds } = await findUnableHere(dependencies, request, others);
  const [hostId] = hostIds;
  if (hostId !== undefined && !isSentHere) return { kind: 'elsewhere', hostId };
  if (problems.length > 0) return { kind: 'failed', spec: request, problem: problems.join('; ') };
  try {
    const image = await dependencies.environmentFor(environment.kind).resolveImage(environment.image);
    return { kind: 'ready', spec: { ...request, environment: { ...environment, image } } };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', spec: request, problem };
  }
}
