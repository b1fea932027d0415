import type { Limit } from './outcome.ts';
import type { CallModelResult } from './step.ts';

/** An answer that was cut at the output limit is graded, and says so. */
export const toOutputLimit = (answer: Extract<CallModelResult, { kind: 'answered' }>): Limit | null =>
  answer.finishReason === 'length'
    ? { kind: 'output', limit: answer.outputLimit, measured: answer.outputTokens }
    : null;
