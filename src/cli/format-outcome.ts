import type { Limit, Outcome } from '../domain/outcome.ts';
import { formatState, toPrintable } from './format.ts';

/** One line: `scored 0.50, failed; limit steps 30`, `infra: time_out in open: ...`. */
export function formatOutcome(outcome: Outcome | null): string {
  if (outcome === null) return 'not recorded';
  const limit = outcome.limit === null ? '' : `; ${formatLimit(outcome.limit)}`;
  if (outcome.kind === 'scored')
    return `scored ${outcome.score.toFixed(2)}, ${outcome.pass ? 'passed' : 'failed'}${limit}`;
  const { code, phase, message } = outcome.reason;
  return `${formatState(outcome.kind)} (${code} in ${phase}): ${toPrintable(message).replaceAll('\n', ' ')}${limit}`;
}

function formatLimit({ kind, limit, measured }: Limit): string {
  const figures = [
    limit === null ? null : `limit ${limit}`,
    measured === null ? null : `measured ${measured}`,
  ];
  const known = figures.filter((figure) => figure !== null).join(', ');
  return `ended by ${kind}${known === '' ? '' : ` (${known})`}`;
}
