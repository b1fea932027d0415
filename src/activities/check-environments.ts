import { isNarrower, type NetworkPhases } from '../domain/network-policy.ts';
import { namesOfLimits } from '../domain/resources.ts';
import type { RequestSpec, RunSpec, SessionSpec } from '../domain/run.ts';
import type { EnvironmentAbilities } from '../environments/environment.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';

/**
 * The run with every image by its exact name. Throws `InvalidRun` with all that the environments of this
 * host cannot do: policies, changes between phases, limits, images that cannot be had.
 */
export async function checkEnvironments(dependencies: Dependencies, spec: RunSpec): Promise<RunSpec> {
  const problems: string[] = [];
  const requests: RequestSpec[] = [];
  for (const request of spec.requests) {
    const { environment } = request;
    if (environment.kind === 'none') {
      requests.push(request);
      continue;
    }
    const say = (problem: string): void => void problems.push(`request "${request.name}": ${problem}`);
    const provider = dependencies.environmentFor(environment.kind);
    const abilities = await provider.describe();
    findProblems(environment, abilities).forEach(say);
    if (abilities.problem !== null) continue;
    try {
      const image = await provider.resolveImage(environment.image);
      requests.push({ ...request, environment: { ...environment, image } });
    } catch (error) {
      say((error as Error).message);
    }
  }
  if (problems.length > 0) throw fatal('InvalidRun', problems.join('\n'));
  return { ...spec, requests };
}

function findProblems(spec: SessionSpec, abilities: EnvironmentAbilities): readonly string[] {
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
