import * as workflow from '@temporalio/workflow';
import type { RecordInput, RecordResult } from '../domain/step.ts';
import { gradeAndRecord } from './activities.ts';

type Waiting = {
  readonly input: RecordInput;
  readonly resolve: (result: RecordResult) => void;
  readonly reject: (error: unknown) => void;
};

/** At most so many attempts are graded and recorded together. */
const TOGETHER = 16;

const waiting: Waiting[] = [];
let busy = false;

/**
 * Grades and records an attempt together with all others of this workflow that are ready: those that end in
 * one activation, and those that end while the activity before is open, share one local activity. There is
 * never a second one open: several end one after the other live but in one activation on replay, and code
 * that shares state would then take another way.
 */
export function recordAttempt(input: RecordInput): Promise<RecordResult> {
  return new Promise((resolve, reject) => {
    waiting.push({ input, resolve, reject });
    if (!busy) void flush();
  });
}

async function flush(): Promise<void> {
  busy = true;
  // Everything that ends in this activation comes along.
  await Promise.resolve();
  while (waiting.length > 0) await recordTogether(waiting.splice(0, TOGETHER));
  busy = false;
}

async function recordTogether(batch: readonly Waiting[]): Promise<void> {
  try {
    const { results } = await gradeAndRecord({ records: batch.map((one) => one.input) });
    for (const [index, one] of batch.entries()) settle(one, results[index]);
  } catch (error) {
    for (const one of batch) one.reject(error);
  }
}

function settle(
  { resolve, reject }: Waiting,
  result: RecordResult | { readonly fault: string } | undefined,
): void {
  if (result === undefined || 'fault' in result) {
    reject(
      workflow.ApplicationFailure.nonRetryable(result?.fault ?? 'no result for this attempt', 'OutsidePlan'),
    );
  } else {
    resolve(result);
  }
}
