import type { ClassifiedFailure } from './failure.ts';
import type { AgentEnd, Phase } from './outcome.ts';

const ADVICE: { readonly [K in ClassifiedFailure['class']]?: string } = {
  credential: 'check the key in the variable that the provider names, then `assay resume`',
  billing: 'restore the balance or quota of the account, then `assay resume`',
  throttled: 'lower providers[].limits.concurrency or wait, then `assay resume`',
  connection: 'check that the endpoint is up and its address is right, then `assay resume`',
  server: 'the endpoint is failing; try `assay resume` later',
  time_out: 'raise the time-out that is named, or try `assay resume` later',
  no_evidence: 'the endpoint reported success without an answer; check its account and logs',
  bad_answer:
    'the endpoint does not speak the form of its provider kind at this address; check providers[].kind and baseUrl',
};

/** The most frequent 404: an address without `/v1`, or a name that the server does not know. */
const NOT_FOUND = "check providers[].baseUrl and the model's name, then run again";

/**
 * What a model call that failed for good means for its attempt: a request that the model refused
 * is an `error` of that input; an engine that does not answer is `infra`, or `interrupted` once tokens
 * were spent; a context overflow ends the loop and is graded.
 */
export function toAgentEnd(failure: {
  readonly classified: Pick<ClassifiedFailure, 'class' | 'message' | 'status'>;
  /** Tokens were spent in this attempt before. */
  readonly spentBefore: boolean;
  readonly requests: number;
}): AgentEnd {
  const { classified, spentBefore, requests } = failure;
  if (classified.class === 'context_overflow') {
    return { kind: 'ended', limit: { kind: 'context', limit: null, measured: null } };
  }
  const tries = requests > 1 ? ` (after ${requests} requests)` : '';
  const advice = classified.status === 404 ? NOT_FOUND : ADVICE[classified.class];
  const message = `${classified.message}${tries}${advice === undefined ? '' : `: ${advice}`}`;
  const phase: Phase = 'run';
  const reason = { code: classified.class, phase, message };
  if (classified.class === 'bad_request') return { kind: 'failed', outcome: 'error', reason };
  return { kind: 'failed', outcome: spentBefore ? 'interrupted' : 'infra', reason };
}
