import type { RequestSpec } from './run.ts';

/** Whether Assay calls the models of a request; an agent without the recording proxy calls its own. */
export const callsProvider = ({ harness }: Pick<RequestSpec, 'harness'>): boolean =>
  harness.kind !== 'command' || harness.proxy;
