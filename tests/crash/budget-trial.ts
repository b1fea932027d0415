import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../src/local/process-identity.ts';
import { judgeBooks, listOpenCalls, loadBooks, type Books } from './budget-books.ts';
import { planBudget, toBudgetDocument, toUsd, WORST_TOKENS, type BudgetPlan } from './budget-plan.ts';
import { identifyParts, killNow, waitForRevival, type Part } from './kills.ts';
import { hasEnded } from './records.ts';
import { describeTrouble, type Command, type Workplace } from './workplace.ts';

export type BudgetTrialResult = {
  readonly seed: number;
  readonly problems: readonly string[];
  readonly state: string;
  readonly killed: readonly Part[];
  readonly capUsd: number;
  readonly billedUsd: number;
  readonly spentUsd: number;
  readonly requests: number;
  /** Calls that held a reserve when their worker had died, and those that are charged at their worst case for it. */
  readonly openAtKills: number;
  readonly lost: number;
  readonly seconds: number;
};

const RUN_LIMIT_MS = 240_000;

/** One run with a cap, 64 calls at once, and `kill -9` of parts of the stack while they are in flight. */
export async function runBudgetTrial(workplace: Workplace, seed: number): Promise<BudgetTrialResult> {
  const plan = planBudget(seed);
  const runId = `budget-${seed}`;
  const { endpoint, dataDir } = workplace;
  const before = endpoint.events().length;
  const startedMs = Date.now();
  const command = workplace.start(
    'run',
    workplace.writeRunFile(toBudgetDocument(plan, endpoint.baseUrl)),
    '--run-id',
    runId,
    '--json',
  );
  const signal = AbortSignal.timeout(RUN_LIMIT_MS);
  const hit = await killParts(workplace, { plan, runId, signal });
  while (!signal.aborted && !(await hasEnded(dataDir, runId))) await sleep(200);
  if (signal.aborted) command.process.kill('SIGKILL');
  const events = endpoint.events().slice(before);
  const billedUsd = toUsd(events.reduce((sum, { tokens = 0 }) => sum + tokens, 0));
  const books = await loadBooks(dataDir, runId);
  const problems = [
    ...judgeBooks({ books, capUsd: plan.capUsd, billedUsd, openAtKills: hit.open }),
    ...judgeEnd(plan, books),
    ...(await judgeCommand(command, plan)),
    ...(hit.killed.length === 0 ? ['the run ended before anything was killed'] : []),
  ];
  return {
    seed,
    problems: problems.length === 0 ? [] : [...problems, ...describeTrouble(workplace)],
    state: books.state,
    killed: hit.killed,
    capUsd: plan.capUsd,
    billedUsd,
    spentUsd: books.scopes.find(({ scope }) => scope === 'run')?.spentUsd ?? Number.NaN,
    requests: events.filter(({ event }) => event === 'asked').length,
    openAtKills: hit.open.length,
    lost: books.calls.filter(({ state }) => state === 'lost').length,
    seconds: (Date.now() - startedMs) / 1_000,
  };
}

type Killing = { readonly plan: BudgetPlan; readonly runId: string; readonly signal: AbortSignal };

/** Kills one part after the other; each is back before the next one goes. A run that has ended is left alone. */
async function killParts({ endpoint, dataDir }: Workplace, { plan, runId, signal }: Killing) {
  const killed: Part[] = [];
  const open: string[] = [];
  for (const { part, afterRequests, delayMs } of plan.kills) {
    const wanted = endpoint.countRequests() + afterRequests;
    while (!signal.aborted && endpoint.countRequests() < wanted)
      if (await hasEnded(dataDir, runId)) return { killed, open };
      else await sleep(10);
    await sleep(delayMs);
    const found = identifyParts(dataDir, part);
    killNow([...found.values()].map(({ pid }) => pid));
    while ([...found.values()].some(isAlive)) await sleep(5);
    killed.push(part);
    if (part === 'worker') open.push(...(await listOpenCalls(dataDir, runId)));
    await waitForRevival(dataDir, found, signal);
  }
  return { killed, open };
}

function judgeEnd(
  { isTight, cells }: BudgetPlan,
  { state, reason, outcomes, calls }: Books,
): readonly string[] {
  const { scored = 0, none = 0 } = outcomes;
  const worstUsd = Math.max(...calls.map((call) => call.worstUsd));
  const wanted = isTight ? 'stopped_budget' : 'completed';
  return [
    ...(state === wanted ? [] : [`the run ended as ${state}, not ${wanted}: ${reason}`]),
    // Else the cap of an even seed is none that surely suffices.
    ...(worstUsd <= toUsd(WORST_TOKENS)
      ? []
      : [`a call reserves ${worstUsd} USD, this trial reckons with less`]),
    ...(none === 0 ? [] : [`${none} cells have no outcome`]),
    ...(isTight || scored === cells ? [] : [`${scored} of ${cells} cells are scored`]),
  ];
}

async function judgeCommand(command: Command, { isTight }: BudgetPlan): Promise<readonly string[]> {
  const { exitCode, stderr } = await command.ended;
  const wanted = isTight ? 101 : 0;
  return exitCode === wanted ? [] : [`the command ended with ${exitCode}, not ${wanted}: ${stderr}`];
}
