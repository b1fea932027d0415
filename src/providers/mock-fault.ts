import type { ClassifiedFailure } from '../domain/failure.ts';
import { toTimeOutFault } from './call-timers.ts';
import { readChatAnswer } from './chat-answer.ts';
import { createFault, ProviderError, toProviderError } from './provider-error.ts';
import type { MockFault, MockParams, MockStep } from './mock-params.ts';
import type { ModelRequest } from './provider.ts';

const PAGE = '<!doctype html><html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>';

/** The fault that meets this request, or null: the run's list first, then the script's step. */
export function findFault(
  request: ModelRequest,
  params: MockParams,
  step: MockStep | null,
): MockFault | null {
  const { cell } = request;
  const listed = (params.faults ?? []).find(
    (one) =>
      (one.case === undefined || one.case === '*' || one.case === cell.caseId) &&
      (one.attempt === undefined || one.attempt === cell.attempt) &&
      (one.step === undefined || one.step === cell.step) &&
      cell.requestNumber <= (one.times ?? Infinity),
  );
  if (listed !== undefined) return listed.fault;
  if (step?.fault === undefined || cell.requestNumber > (step.times ?? Infinity)) return null;
  return step.fault;
}

/** The error that a real provider would have thrown for this fault; `hang` is the caller's to wait for. */
export function toFaultError(fault: MockFault, request: ModelRequest): ProviderError {
  const error = toProviderError(toCause(fault, request), { now: Date.now() });
  if (fault.retryAfterMs === undefined) return error;
  const classified: ClassifiedFailure = { ...error.classified, retryAfterMs: fault.retryAfterMs };
  return new ProviderError(classified, { usage: error.usage });
}

function toCause(fault: MockFault, request: ModelRequest): unknown {
  const { timeouts } = request;
  switch (fault.kind) {
    case undefined:
      return toStatusCause(fault);
    case 'connection':
      return Object.assign(new Error(fault.text ?? 'read ECONNRESET'), { code: fault.code ?? 'ECONNRESET' });
    case 'time_out':
      return toTimeOutFault('first byte', timeouts.firstByteMs, timeouts.firstByteMs);
    case 'hang':
      return toTimeOutFault('total', timeouts.totalMs, timeouts.totalMs);
    case 'html':
      return readFault(fault.status ?? 200, fault.text ?? PAGE);
    case 'empty_choices':
      return readFault(fault.status ?? 200, '{"id":"mock","choices":[]}');
    case 'no_evidence':
      return createFault({
        class: 'no_evidence',
        retryable: false,
        message: `a success without a model's tokens, whose text is an error: ${fault.text ?? 'API Error'}`,
        usage: {
          inputTokens: 0,
          outputTokens: 0,
          reasoningTokens: null,
          cacheReadTokens: null,
          cacheWriteTokens: null,
        },
      });
  }
}

function toStatusCause(fault: MockFault): unknown {
  const { status, code, text } = fault;
  if (status === undefined)
    return Object.assign(new Error(text ?? 'mock fault'), code === undefined ? {} : { code });
  const error = {
    message: text ?? `mock fault with status ${status}`,
    ...(code === undefined ? {} : { code }),
  };
  return readFault(status, JSON.stringify({ error }));
}

/** Lets the reader of real answers find what is wrong with this one. */
function readFault(status: number, body: string): unknown {
  try {
    readChatAnswer({ status, headers: {}, body });
  } catch (error) {
    return error;
  }
  return new Error('the mock fault is a sound answer');
}
