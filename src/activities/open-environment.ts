import type { Cell } from '../domain/ids.ts';
import type { NetworkPhases } from '../domain/network-policy.ts';
import type { SessionSpec } from '../domain/run.ts';
import type { OpenRequest } from '../environments/environment.ts';

/** What a provider is asked for: the request's environment as planned, in one phase's network. */
export function toOpenRequest(
  spec: SessionSpec,
  session: { readonly sessionId: string; readonly cell: Cell; readonly phase: keyof NetworkPhases },
): OpenRequest {
  const { sessionId, cell, phase } = session;
  return {
    sessionId,
    variables: spec.variables,
    resources: spec.resources,
    network: spec.network[phase],
    ...(spec.image === null ? {} : { image: spec.image }),
    labels: { run: cell.runId, task: String(cell.task), attempt: String(cell.attempt) },
  };
}
