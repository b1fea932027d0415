import { TemporalFailure } from '@temporalio/workflow';

/** What broke a child or an attempt, in at most 300 characters. */
export const describeFault = (error: unknown): string =>
  String(error instanceof TemporalFailure ? (error.cause ?? error) : error).slice(0, 300);
