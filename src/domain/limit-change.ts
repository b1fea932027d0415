/** One limit of a run that was changed while it went on, or a decision about the run. */
export type LimitChange = {
  /** Such as `taskConcurrency`, `maxRunUsd`, `slots.local`, `state`, `approval`. */
  readonly limit: string;
  readonly from: string | null;
  readonly to: string | null;
};

/** Such as `taskConcurrency 32 -> 8`. */
export const formatChange = ({ limit, from, to }: LimitChange): string =>
  `${limit} ${from ?? 'none'} -> ${to ?? 'none'}`;
