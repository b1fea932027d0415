import type { RunState } from '../domain/outcome.ts';

export const EXIT = { ok: 0, error: 1, gateFailed: 100, incomplete: 101, cancelled: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export type RunEnd = {
  readonly state: RunState;
  readonly gateFailures: readonly { readonly gate: string; readonly message: string }[];
  readonly planned: number;
  readonly scored: number;
  /** Cells that were cut off or never started; those of skipped models are none of them. */
  readonly unfinished: number;
};

export type ExitDecision = {
  readonly code: ExitCode;
  /** Why it is not 0, one sentence each. */
  readonly reasons: readonly string[];
};

/**
 * Exit code of a command that saw a run end. How the run ended goes before its figures, and
 * coverage before the other gates: figures over too few cells are no basis for them. A completed run that
 * left cells out (a model's cap), or in which nothing was scored, is an unfinished end too.
 */
export function decideExit({ state, gateFailures, planned, scored, unfinished }: RunEnd): ExitDecision {
  const [coverage, others] = [
    gateFailures.filter(isCoverage),
    gateFailures.filter((failure) => !isCoverage(failure)),
  ];
  if (state === 'failed') return { code: EXIT.error, reasons: ['the run failed'] };
  if (state === 'cancelled') return { code: EXIT.cancelled, reasons: ['the run was cancelled'] };
  if (state !== 'completed') return { code: EXIT.incomplete, reasons: [`the run ${describeEnd(state)}`] };
  if (coverage.length > 0) return { code: EXIT.incomplete, reasons: coverage.map(({ message }) => message) };
  if (unfinished > 0) {
    const cells = unfinished === 1 ? '1 cell was' : `${unfinished} cells were`;
    return { code: EXIT.incomplete, reasons: [`${cells} not finished`] };
  }
  if (planned > 0 && scored === 0) return { code: EXIT.incomplete, reasons: ['nothing was scored'] };
  if (others.length === 0) return { code: EXIT.ok, reasons: [] };
  return { code: EXIT.gateFailed, reasons: others.map(({ message }) => message) };
}

function describeEnd(state: Exclude<RunState, 'completed' | 'failed' | 'cancelled'>): string {
  switch (state) {
    case 'stopped_budget':
      return 'was stopped by its budget';
    case 'timed_out':
      return 'was stopped at its deadline';
    case 'aborted':
      return 'was aborted by failFast';
    case 'preparing':
    case 'awaiting_approval':
    case 'running':
    case 'paused':
    case 'finalizing':
      return `is ${state.replaceAll('_', ' ')}`;
  }
}

const isCoverage = ({ gate }: { readonly gate: string }): boolean => gate === 'minCoverage';
