import type { PreparedRequest } from '../domain/workflow-brief.ts';
import { watchEngines } from '../store/engine-health.ts';
import { loadPlan } from '../store/plans.ts';
import { toCanonicalJson } from '../domain/canonical-json.ts';
import { failRequest, finishRequests, markRequestPrepared } from '../store/requests.ts';
import { changeSetups } from '../store/setups.ts';
import { listAgentEngines } from './agent-engine.ts';
import { listOthers, resolveRequest } from './check-environments.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';

export type RequestAddress = {
  readonly runId: string;
  readonly generation: number;
  readonly requestIndex: number;
};

/** What a run asks about its requests one by one. All idempotent. */
export const createRequestSteps = (dependencies: Dependencies) => ({
  /** Finds out what a request still lacks, while earlier ones run; one that cannot be prepared is over. */
  prepareRequest: (
    request: RequestAddress & {
      /** Sent to this host by the one that was asked first. */
      readonly isSentHere?: boolean;
    },
  ): Promise<PreparedRequest> => withHeartbeat(() => prepareRequest(dependencies, request)),

  /** Gives up a request whose preparation could not be done. */
  async failRequest({
    message,
    ...request
  }: RequestAddress & { readonly message: string }): Promise<PreparedRequest> {
    await failRequest(dependencies.db, { ...request, failure: message });
    return { kind: 'failed' };
  },

  /** Ends requests that have no cell left to run. */
  async finishRequests(wanted: {
    readonly runId: string;
    readonly requests: readonly number[];
  }): Promise<void> {
    await finishRequests(dependencies.db, wanted);
  },
});

async function prepareRequest(
  dependencies: Dependencies,
  { isSentHere = false, ...address }: RequestAddress & { readonly isSentHere?: boolean },
): Promise<PreparedRequest> {
  const { db, redact } = dependencies;
  const { runId, requestIndex } = address;
  const request = (await loadPlan(db, runId)).requests[requestIndex];
  if (request === undefined) throw fatal('OutsidePlan', `run ${runId} has no request ${requestIndex}`);
  if (request.failure !== null) return { kind: 'failed' };
  if (request.unprepared !== true) return { kind: 'ready' };
  const others = await listOthers(dependencies);
  const resolved = await resolveRequest(dependencies, request.spec, { others, isSentHere });
  if (resolved.kind === 'elsewhere') return resolved;
  if (resolved.kind === 'failed') {
    await failRequest(db, { ...address, failure: redact(resolved.problem) });
    return { kind: 'failed' };
  }
  const { environment } = resolved.spec;
  const image = environment.kind === 'none' ? null : environment.image;
  // What is asked once more is known by what its sessions start from.
  await watchEngines(db, { runId, engineIds: listAgentEngines({ requests: [resolved.spec] }) });
  // Its fingerprints name the image as the plan first did.
  await changeSetups(db, { runId, requestIndex }, (setup) => withImage(setup, image));
  await markRequestPrepared(db, { runId, requestIndex, image });
  return { kind: 'ready' };
}

function withImage(text: string, image: string | null): string {
  const setup = JSON.parse(text) as { readonly environment: object };
  return toCanonicalJson({ ...setup, environment: { ...setup.environment, image } });
}
