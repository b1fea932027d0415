import { classifyFailure } from '../domain/classify-failure.ts';
import type { FailureRule } from '../domain/classify-failure.ts';
import type { ClassifiedFailure, FailureClass } from '../domain/failure.ts';
import { NO_FACTS, readErrorFacts } from '../domain/failure-facts.ts';
import type { FailureFacts } from '../domain/failure-facts.ts';
import type { Usage } from '../domain/usage.ts';

/** A model call that gave no model's answer. It already knows its class and whether a retry makes sense. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly classified: ClassifiedFailure;
  /** Tokens that the provider reported although the call failed, or null. */
  readonly usage: Usage | null;

  constructor(classified: ClassifiedFailure, details: { usage?: Usage | null; cause?: unknown } = {}) {
    super(classified.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.classified = classified;
    this.usage = details.usage ?? null;
  }
}

/** What a provider saw itself, before it is classified: thrown inside a provider, never out of it. */
export class CallFault extends Error {
  override readonly name = 'CallFault';
  readonly facts: FailureFacts;
  readonly usage: Usage | null;

  constructor(facts: FailureFacts, usage: Usage | null = null) {
    super(facts.texts[0] ?? facts.label ?? 'failed call');
    this.facts = facts;
    this.usage = usage;
  }
}

/** A fault of a class that the caller knows for sure, with its own words. */
export const createFault = (fault: {
  readonly class: FailureClass;
  readonly retryable: boolean;
  readonly message: string;
  readonly usage?: Usage | null;
}): CallFault =>
  new CallFault(
    { ...NO_FACTS, texts: [fault.message], known: { class: fault.class, retryable: fault.retryable } },
    fault.usage ?? null,
  );

/** Classifies anything thrown inside a provider; a `CallFault` is found through wrapping errors. */
export function toProviderError(
  error: unknown,
  options: { readonly now: number; readonly rules?: readonly FailureRule[]; readonly secret?: string | null },
): ProviderError {
  const fault = findFault(error);
  const facts = fault?.facts ?? readErrorFacts(error);
  const { secret } = options;
  const texts = secret ? facts.texts.map((text) => text.replaceAll(secret, '[key]')) : facts.texts;
  return new ProviderError(classifyFailure({ ...facts, texts }, options), {
    usage: fault?.usage ?? null,
    cause: fault === null ? toCause(error) : undefined,
  });
}

/** An SDK's own error holds the request, prompts included: what caused it is kept instead. */
const toCause = (error: unknown): unknown =>
  error instanceof Error && 'requestBodyValues' in error ? error.cause : error;

function findFault(error: unknown): CallFault | null {
  let current = error;
  for (let depth = 0; depth < 10 && current instanceof Error; depth += 1) {
    if (current instanceof CallFault) return current;
    current = current.cause;
  }
  return null;
}
