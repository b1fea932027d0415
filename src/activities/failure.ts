import { ApplicationFailure, CancelledFailure, type ApplicationFailureOptions } from '@temporalio/common';
import type { Json } from '../domain/json.ts';
import { redactJson, type Redactor } from '../domain/redact.ts';

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

const MESSAGE_LIMIT = 2_000;
const STACK_LIMIT = 8_000;
const LONGEST_CHAIN = 10;

/**
 * Any error of an activity as Temporal carries and logs it: the one place where an error leaves for a history. Names,
 * messages, stacks, details and causes (at most ten) are cleaned by `redact` before anything is cut, so that no part of
 * a secret is left at an edge. Our own failures keep what they say of retries.
 */
export function toApplicationFailure(error: unknown, redact: Redactor['redact']): Error {
  return error instanceof CancelledFailure ? error : toCleanFailure(error, redact, LONGEST_CHAIN);
}

function toCleanFailure(error: unknown, redact: Redactor['redact'], links: number): ApplicationFailure {
  const { name, message, stack, cause } =
    error instanceof Error ? error : new Error(String(error), { cause: undefined });
  const isOurs = error instanceof ApplicationFailure;
  const failure = ApplicationFailure.create({
    ...(isOurs ? toKept(error, redact) : { type: redact(name) }),
    message: isOurs ? redact(message) : redact(message).slice(0, MESSAGE_LIMIT),
    ...(cause === undefined || links <= 1 ? {} : { cause: toCleanFailure(cause, redact, links - 1) }),
  });
  failure.stack = redact(stack ?? '').slice(0, STACK_LIMIT);
  return failure;
}

const toKept = (
  { type, nonRetryable, details, nextRetryDelay, category }: ApplicationFailure,
  redact: Redactor['redact'],
): ApplicationFailureOptions => ({
  type: type ?? 'Error',
  ...(nonRetryable == null ? {} : { nonRetryable }),
  ...(details == null ? {} : { details: details.map((detail) => redactJson(detail as Json, redact)) }),
  ...(nextRetryDelay == null ? {} : { nextRetryDelay }),
  ...(category == null ? {} : { category }),
});

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
