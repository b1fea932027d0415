import type { RequestSpec, RunSpec } from './run.ts';

/** Whether Assay calls the models of a request; an agent without the recording proxy calls its own. */
export const callsProvider = ({ harness }: Pick<RequestSpec, 'harness'>): boolean =>
  harness.kind !== 'command' || harness.proxy;

/** Indexes of the requests whose attempts are one model call or one external agent, and leave nothing but its answer. */
export const listOneStepRequests = ({ requests }: Pick<RunSpec, 'requests'>): readonly number[] =>
  requests.flatMap(({ harness, environment, evaluation, artifacts }, index) => {
    const isCall = harness.kind === 'direct' && environment.kind === 'none';
    const isAgent = harness.kind === 'command' && evaluation !== 'fresh' && artifacts === undefined;
    return isCall || isAgent ? [index] : [];
  });
