import { ApplicationFailure, CancelledFailure } from '@temporalio/common';

/** Names of the failures that no retry can cure; the workflows' policies list them. */
export type FatalType =
  | 'InvalidRun'
  | 'UnknownRun'
  | 'OutsidePlan'
  | 'PayloadTooLarge'
  | 'EnvironmentLost'
  /** A message asked for what cannot be. */
  | 'Refused';

/** A failure that no retry can cure. */
export const fatal = (type: FatalType, message: string, cause?: Error): ApplicationFailure =>
  ApplicationFailure.create({ type, message, nonRetryable: true, ...(cause === undefined ? {} : { cause }) });

/** Comes back after a delay, holding nothing meanwhile. Expected, so it is logged as benign. */
export const comeBack = (delayMs: number, message: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'ComeBack',
    message,
    nextRetryDelay: Math.max(1, Math.round(delayMs)),
    category: 'BENIGN',
  });

/** Any error of an activity as Temporal carries it: one line, the cause kept, our own failures untouched. */
export function toApplicationFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (!(error instanceof Error)) return ApplicationFailure.create({ type: 'Error', message: String(error) });
  return ApplicationFailure.create({
    type: error.name,
    message: error.message.slice(0, 2_000),
    cause: error,
  });
}

const MAX_PAYLOAD_BYTES = 64 * 1024;

/** Hands a result to Temporal if it is small enough; history holds references, not contents. */
export function checkPayload<T>(name: string, result: T): T {
  const bytes = Buffer.byteLength(JSON.stringify(result) ?? '');
  if (bytes <= MAX_PAYLOAD_BYTES) return result;
  throw fatal(
    'PayloadTooLarge',
    `${name} returned ${bytes} bytes; a result may have at most ${MAX_PAYLOAD_BYTES}`,
  );
}
