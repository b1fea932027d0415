import { setTimeout as sleep } from 'node:timers/promises';
import { compareWithLog, type Findings, type Kill } from './findings.ts';
import { identifyParts, killNow, planKills, waitForRevival } from './kills.ts';
import type { KillPlan, Moment, Victim } from './kills.ts';
import { isAlive } from '../../src/local/process-identity.ts';
import { findProcesses } from './processes.ts';
import { waitForPolling } from './worker-log.ts';
import { hasEnded, loadRecords, type Records } from './records.ts';
import { createDirectRun } from './run-documents.ts';
import { describeTrouble, type Command, type Workplace } from './workplace.ts';

export type CrashTrial = {
  readonly victim: Victim;
  readonly seed: number;
  readonly packing: 'auto' | 'off';
  /** 200 cells over 8 slots, killed where the seed says, unless given. */
  readonly size?: TrialSize;
};

export type TrialSize = {
  /** Two cells each. */
  readonly cases: number;
  readonly slots: number;
  readonly moments: readonly Moment[];
  readonly limitMs: number;
};

export type TrialResult = Findings & {
  readonly planned: number;
  /** Cells without exactly one result. */
  readonly cellsLost: number;
  /** From the last kill to the end of the run. */
  readonly completionMs: number;
  /** Commands that were typed after a kill. */
  readonly typed: number;
  /** From the start of a new worker's process until it polls; the longest. */
  readonly workerStartMs: number | null;
};

const USUAL = { cases: 100, slots: 8, limitMs: 240_000 };

/**
 * One run of 200 cells, started by the real command in a workplace of its own, with `kill -9` at the moments that the
 * seed gives. A user types something only where nothing of the stack is left that could revive it. The result's
 * `problems` are empty when nothing was lost and nothing repeated.
 */
export async function runCrashTrial(workplace: Workplace, trial: CrashTrial): Promise<TrialResult> {
  const { cases, slots, limitMs } = trial.size ?? USUAL;
  const planned = 2 * cases;
  const plan = { ...planKills(trial.victim, trial.seed, planned), ...pickMoments(trial) };
  const runId = toTrialRunId(trial);
  const { endpoint } = workplace;
  const file = workplace.writeRunFile(
    createDirectRun({ baseUrl: endpoint.baseUrl, cases, slots, packing: trial.packing }),
  );
  const before = endpoint.events().length;
  const user = new User(workplace, { runId, plan, planned });
  await user.startRun(file);
  const signal = AbortSignal.timeout(limitMs);
  const kills: Kill[] = [];
  for (const moment of plan.moments) kills.push(await user.killAt(moment, signal));
  const completed = await user.waitForEnd(signal);
  const completionMs = Date.now() - (kills.at(-1)?.toMs ?? 0);
  if (!completed) {
    user.leave();
    return stuck(workplace, { planned, limitMs, completionMs });
  }
  const records = await loadRecords(workplace.dataDir, runId);
  const compared = compareWithLog(records.calls, endpoint.events().slice(before), kills);
  const problems = [...judgeCells(records, planned), ...compared.problems, ...(await user.judgeEnd())];
  const { typed, workerStartMs } = user;
  return {
    ...compared,
    problems,
    planned,
    cellsLost: planned - countScored(records),
    completionMs,
    typed,
    workerStartMs,
  };
}

export const toTrialRunId = ({ victim, seed }: Pick<CrashTrial, 'victim' | 'seed'>): string =>
  `${victim}-${seed}`;

const pickMoments = ({ size }: CrashTrial) => (size === undefined ? {} : { moments: size.moments });

/** Stops the stack as a user would, and says what still runs. */
export async function stopAsUser({ assay, dataDir }: Workplace): Promise<readonly string[]> {
  const { exitCode, stderr } = await assay('down');
  await sleep(300);
  const left = findProcesses(dataDir).map(({ command }) => `still running after "assay down": ${command}`);
  return exitCode === 0 ? left : [`"assay down" ended with ${exitCode}: ${stderr}`, ...left];
}

type WatchedRun = { readonly runId: string; readonly plan: KillPlan; readonly planned: number };

/** What a user does, and sees, while things die. */
class User {
  typed = 0;
  workerStartMs: number | null = null;
  private readonly workplace: Workplace;
  private readonly runId: string;
  private readonly plan: KillPlan;
  private readonly planned: number;
  /** Requests of earlier runs of this workplace. */
  private readonly askedBefore: number;
  private command: Command | null = null;

  constructor(workplace: Workplace, { runId, plan, planned }: WatchedRun) {
    this.workplace = workplace;
    this.runId = runId;
    this.plan = plan;
    this.planned = planned;
    this.askedBefore = workplace.endpoint.countRequests();
  }

  async startRun(file: string): Promise<void> {
    const args = ['run', file, '--run-id', this.runId, '--json'];
    if (this.plan.attended) {
      this.command = this.workplace.start(...args);
      return;
    }
    const { exitCode, stderr } = await this.workplace.assay(...args, '--detach');
    if (exitCode !== 0) throw new Error(`"assay run --detach" ended with ${exitCode}: ${stderr}`);
  }

  async killAt({ afterRequests, delayMs }: Moment, signal: AbortSignal): Promise<Kill> {
    const { endpoint, dataDir } = this.workplace;
    const { victim } = this.plan;
    // A second kill of a command needs another one that watches.
    if (victim === 'command' && !this.command?.isRunning()) this.type();
    await endpoint.waitForRequests(this.askedBefore + Math.max(1, afterRequests), signal);
    await sleep(delayMs);
    const parts = identifyParts(dataDir, victim);
    const withCommand = victim === 'command' || victim === 'all';
    const commandPid = withCommand && this.command?.isRunning() ? this.command.process.pid : undefined;
    const fromMs = Date.now();
    killNow([
      ...[...parts.values()].map(({ pid }) => pid),
      ...(commandPid === undefined ? [] : [commandPid]),
    ]);
    while ([...parts.values()].some(isAlive)) await sleep(5);
    if (withCommand) await this.command?.ended;
    const toMs = Date.now();
    if (this.mustType()) this.type();
    const revival = parts.size === 0 ? null : await waitForRevival(dataDir, parts, signal);
    if (revival !== null && revival.workerPid !== null) {
      const pollsAtMs = await waitForPolling(dataDir, { pid: revival.workerPid, signal });
      this.workerStartMs = Math.max(this.workerStartMs ?? 0, Math.round(pollsAtMs - revival.atMs));
    }
    return { fromMs, toMs, restartedAtMs: revival?.atMs ?? null };
  }

  /** With the worker and every command gone, nothing is left that revives; a killed command alone misses nobody. */
  private mustType(): boolean {
    const workerIsGone = this.plan.victim === 'worker' || this.plan.victim === 'all';
    return workerIsGone && !this.command?.isRunning();
  }

  private type(): void {
    this.typed += 1;
    this.command = this.workplace.start('watch', this.runId, '--json');
  }

  /** A run that is stuck keeps nobody waiting. */
  leave(): void {
    this.command?.process.kill('SIGKILL');
  }

  async waitForEnd(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (await hasEnded(this.workplace.dataDir, this.runId)) return true;
      await sleep(200);
    }
    return false;
  }

  /** The command that watched saw the run end well, and the report can be read. */
  async judgeEnd(): Promise<readonly string[]> {
    const problems: string[] = [];
    const seen = this.command?.isRunning() ? await this.command.ended : null;
    if (seen !== null && seen.exitCode !== 0)
      problems.push(`the watching command ended with ${seen.exitCode}: ${seen.stderr}`);
    const { exitCode, stdout, stderr } = await this.workplace.assay('report', this.runId, '--json');
    const scored = exitCode === 0 ? (JSON.parse(stdout) as { run: { scored: number } }).run.scored : null;
    if (scored !== this.planned)
      problems.push(`the report says ${scored} scored cells (exit code ${exitCode}): ${stderr}`);
    return problems;
  }
}

function judgeCells({ state, attempts }: Records, planned: number): readonly string[] {
  const others = attempts.filter(({ outcome }) => outcome !== 'scored');
  return [
    ...(state === 'completed' ? [] : [`the run ended as ${state}`]),
    ...(attempts.length === planned ? [] : [`${attempts.length} cells instead of ${planned}`]),
    ...others.map(({ cell, outcome, detail }) => `${cell} is ${outcome ?? 'not recorded'}: ${detail}`),
  ];
}

const countScored = ({ attempts }: Records): number =>
  new Set(attempts.filter(({ outcome }) => outcome === 'scored').map(({ cell }) => cell)).size;

type Stuck = { readonly planned: number; readonly limitMs: number; readonly completionMs: number };

function stuck(workplace: Workplace, { planned, limitMs, completionMs }: Stuck): TrialResult {
  return {
    problems: [`the run did not end within ${limitMs / 1000} s`, ...describeTrouble(workplace)],
    madeAgain: 0,
    extraRequests: 0,
    inFlight: 0,
    firstNewMs: null,
    cutOffMs: null,
    typed: 0,
    workerStartMs: null,
    planned,
    cellsLost: planned,
    completionMs,
  };
}
