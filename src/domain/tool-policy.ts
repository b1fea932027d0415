/** What becomes of a call whose worker was lost: nobody knows whether it had its effect. */
export type OnUnknown = 'refuse' | 'ask' | 'rerun' | 'skip';

/** How a tool may be repeated. */
export type ToolPolicy = {
  /** Doing it twice is doing it once. */
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  /** Executions of one call that failed for a passing reason; 1 unless the tool is idempotent. */
  readonly maxAttempts: number;
  readonly onUnknown: OnUnknown;
};

/** What a run file says of a tool; the rest is the tool's own. */
export type ToolPolicyChange = { readonly [K in keyof ToolPolicy]?: ToolPolicy[K] };

const REPEATABLE = { maxAttempts: 3, onUnknown: 'rerun' } as const;
const ONCE = { maxAttempts: 1, onUnknown: 'refuse' } as const;

/** A policy with every default: 60 s; once and refused unless idempotent, else three times and run again. */
export const toToolPolicy = (given: ToolPolicyChange): ToolPolicy => ({
  idempotent: false,
  timeoutMs: 60_000,
  ...(given.idempotent === true ? REPEATABLE : ONCE),
  ...given,
});

/** A tool's own policy with what a run file says of it; saying that it is (not) idempotent brings its defaults. */
export function changePolicy(own: ToolPolicy, change: ToolPolicyChange = {}): ToolPolicy {
  const { idempotent } = change;
  const turned =
    idempotent === undefined || idempotent === own.idempotent ? {} : idempotent ? REPEATABLE : ONCE;
  return { ...own, ...turned, ...change };
}

/** Why a policy contradicts itself, or null. */
export const findPolicyProblem = ({ idempotent, maxAttempts }: ToolPolicy): string | null =>
  !idempotent && maxAttempts > 1
    ? 'a call of a tool that is not idempotent is made once: remove "maxAttempts", or say idempotent: true'
    : null;
