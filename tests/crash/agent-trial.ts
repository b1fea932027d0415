import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../src/local/process-identity.ts';
import { compareWithLog } from './findings.ts';
import { identifyParts, killNow, waitForRevival } from './kills.ts';
import { findProcesses } from './processes.ts';
import { hasEnded, loadRecords, type Records } from './records.ts';
import { createAgentRun } from './run-documents.ts';
import { describeTrouble, type Workplace } from './workplace.ts';

export type AgentTrialResult = {
  readonly problems: readonly string[];
  /** Cells whose tool was running when the worker was killed. */
  readonly refused: number;
  readonly scored: number;
};

const CASES = 12;
const RUN_LIMIT_MS = 180_000;

/**
 * Agents whose tool writes a line to a file of its own outside of the session. The worker is killed while tools run;
 * the user types `assay up`. No tool may have run twice, and those whose outcome nobody knows end as `refused`.
 */
export async function runAgentTrial(workplace: Workplace): Promise<AgentTrialResult> {
  const { folder, dataDir, endpoint } = workplace;
  const marks = join(folder, 'marks');
  mkdirSync(marks);
  const toCommand = (caseId: string) => `echo done >> ${join(marks, caseId)}; sleep 1.5`;
  const file = workplace.writeRunFile(createAgentRun(endpoint.baseUrl, { cases: CASES, toCommand }));
  const detached = await workplace.assay('run', file, '--run-id', 'agents', '--detach', '--json');
  if (detached.exitCode !== 0) throw new Error(`"assay run --detach" failed: ${detached.stderr}`);
  const signal = AbortSignal.timeout(RUN_LIMIT_MS);
  while (!signal.aborted && readdirSync(marks).length < 6) await sleep(20);
  const parts = identifyParts(dataDir, 'worker');
  const fromMs = Date.now();
  killNow([...parts.values()].map(({ pid }) => pid));
  while ([...parts.values()].some(isAlive)) await sleep(5);
  const toMs = Date.now();
  const up = workplace.start('up');
  const revival = await waitForRevival(dataDir, parts, signal);
  await up.ended;
  while (!signal.aborted && !(await hasEnded(dataDir, 'agents'))) await sleep(200);
  const records = await loadRecords(dataDir, 'agents');
  const compared = compareWithLog(records.calls, endpoint.events(), [
    { fromMs, toMs, restartedAtMs: revival?.atMs ?? null },
  ]);
  const problems = [...judgeTools(records, marks), ...compared.problems, ...(await judgeSessions(dataDir))];
  const count = (outcome: string) => records.attempts.filter((row) => row.outcome === outcome).length;
  return {
    problems: problems.length === 0 ? [] : [...problems, ...describeTrouble(workplace)],
    refused: count('refused'),
    scored: count('scored'),
  };
}

function judgeTools({ state, attempts, tools }: Records, marks: string): readonly string[] {
  const problems = state === 'completed' ? [] : [`the run ended as ${state}`];
  if (attempts.length !== CASES) problems.push(`${attempts.length} cells instead of ${CASES}`);
  for (const { cell, outcome, detail } of attempts) {
    const caseId = cell.split('/')[1] ?? '';
    const own = tools.filter((tool) => tool.caseId === caseId);
    const lines = countLines(join(marks, caseId));
    const isUnknown = own.some((tool) => tool.state === 'started');
    const complain = (text: string) => problems.push(`${cell}: ${text}`);
    if (lines > 1) complain(`its tool ran ${lines} times`);
    if (own.length !== 1 || own[0]?.executions !== 1) complain(`${own.length} rows of tools`);
    if (outcome !== (isUnknown ? 'refused' : 'scored'))
      complain(`${outcome}, tool ${own[0]?.state}: ${detail}`);
    if (isUnknown && !/run the attempt again/.test(detail ?? ''))
      complain(`does not say what to do: ${detail}`);
    if (!isUnknown && lines !== 1) complain(`its tool is recorded but ran ${lines} times`);
  }
  return problems;
}

/** Sessions are closed before the run ends; processes that a session was left with are gone as well. */
async function judgeSessions(dataDir: string): Promise<readonly string[]> {
  const sessions = join(dataDir, 'sessions');
  const list = () => readdirSync(sessions).filter((name) => !name.startsWith('.'));
  for (let look = 0; look < 20 && list().length > 0; look += 1) await sleep(100);
  return [
    ...list().map((name) => `session ${name} is still there`),
    ...findProcesses(sessions).map(({ command }) => `a process of a session still runs: ${command}`),
  ];
}

function countLines(path: string): number {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').length;
  } catch {
    return 0;
  }
}
