import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { replaceSection } from '../soak/page-section.ts';
import type { BudgetTrialResult } from './budget-trial.ts';

const OUTPUT = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));

const HEAD = ['Seed', 'Killed', 'Ended', 'Requests', 'Open at kills', 'Lost', 'Cap USD', 'Billed', 'Booked'];

/** Writes the section of docs/soak.md about budgets. */
export function keepBudgetTable(results: readonly BudgetTrialResult[]): void {
  const rows = results.map((one) => [
    String(one.seed),
    one.killed.join(', '),
    one.state,
    String(one.requests),
    String(one.openAtKills),
    String(one.lost),
    ...[one.capUsd, one.billedUsd, one.spentUsd].map((usd) => usd.toFixed(4)),
  ]);
  const table = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  const section = `# Budgets under kills

Written by \`npm run soak:budget\`. Each run has 64 calls at once against an endpoint that draws what an answer costs,
refuses 15 % of the requests (503), and counts by itself what it bills. Odd seeds: the cap is below what the cells cost, a
tenth of the connections is cut after the model has worked, two parts of the stack get \`kill -9\`. Even seeds: the cap is the
most that the cells and the calls of the one killed worker can cost, so that only reserves could stop the run: it must
complete. "Open at kills" held a reserve when their worker was dead; "lost" calls are charged at their worst case.

${table}

Runs with a problem: ${failed} of ${results.length}. Longest: ${Math.max(...results.map(({ seconds }) => seconds)).toFixed(0)} s.
Measured on ${availableParallelism()} cores, at the end with a load of ${(loadavg()[0] ?? 0).toFixed(1)}.`;
  writeFileSync(OUTPUT, replaceSection(readFileSync(OUTPUT, 'utf8'), 'budgets', section));
}
