import type { RequestSpec, RunSpec } from './run.ts';

/** Whether Assay calls the models of a request; an agent without the recording proxy calls its own. */
export const callsProvider = ({ harness }: Pick<RequestSpec, 'harness'>): boolean =>
  harness.kind !== 'command' || harness.proxy;

/** Indexes of the requests whose attempts are one model call each, and leave nothing else behind. */
export const listDirectRequests = ({ requests }: Pick<RunSpec, 'requests'>): readonly number[] =>
  requests.flatMap(({ harness, environment }, index) =>
    harness.kind === 'direct' && environment.kind === 'none' ? [index] : [],
  );
