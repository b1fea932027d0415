import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import type { Json } from '../../src/domain/json.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { startEndpoint, type Endpoint } from '../crash/endpoint-process.ts';
import { findProcesses, hasProcessTable } from '../crash/processes.ts';
import { load } from '../support/load.ts';
import { openHostServices, type HostServices } from './host-services.ts';
import type { WorkerHost } from './worker-host.ts';

const DIRECT_CASES = 40;
const AGENT_CASES = 12;
/** Longer than the rest of its host's work, so that tools run when a host is killed. */
const TOOL_SECONDS = 2;

let services: HostServices;
let endpoint: Endpoint;
let hosts: readonly [WorkerHost, WorkerHost];

beforeAll(async () => {
  services = await openHostServices('hosts');
  endpoint = await startEndpoint(join(services.folder, 'endpoint.jsonl'), [50, 300]);
  hosts = [services.createHost('first'), services.createHost('second')];
  await Promise.all(hosts.map((host) => host.start()));
});

afterAll(async () => {
  await endpoint.stop();
  await services.close();
});

test.skipIf(!hasProcessTable)(
  'two hosts share one run: each session stays on its host, and a host that is killed and comes back ends its own cells',
  { timeout: 180_000 },
  async () => {
    const { connection, client } = services;
    const loaded = await load(createRun());
    const { runId } = await startRun(connection, { loaded, runId: 'shared', approved: false });
    const [first, second] = hosts;
    expect(first.hostId()).not.toBe(second.hostId());

    // Both have sessions, and the first is in the middle of some of them.
    await until(() => running(first).length > 0 && running(second).length > 0);
    await first.kill();
    // The other one goes on with everything that is not bound to a session of the first.
    const isQuestion = ({ request }: { readonly request: string }): boolean => request === 'questions';
    await until(async () => (await loadAttempts(runId)).filter(isQuestion).length === DIRECT_CASES);
    await first.start();

    const handle = client.workflow.getHandle(toRunWorkflowId(runId));
    expect(await (handle.result() as Promise<RunResult>)).toMatchObject({ state: 'completed' });
    const attempts = await loadAttempts(runId);
    expect(new Set(attempts.map(({ cell }) => cell)).size).toBe(DIRECT_CASES + AGENT_CASES);
    expect(attempts).toHaveLength(DIRECT_CASES + AGENT_CASES);
    for (const { cell, caseId, request, outcome } of attempts) {
      const unknown = request === 'agents' && (await hasUnknownTool(runId, caseId));
      // Only the host that was killed leaves tools whose outcome nobody knows.
      const away = unknown && !readMarks(caseId).every(({ path }) => path.startsWith(first.dataDir));
      expect({ cell, outcome, away }).toEqual({ cell, outcome: unknown ? 'refused' : 'scored', away: false });
    }
    expect(attempts.filter(({ outcome }) => outcome === 'refused').length).toBeGreaterThan(0);
    await expectStepsAtHome(runId);
    await expectNothingLeft();
    expect(await Promise.all(hosts.map((host) => host.stop()))).toEqual([0, 0]);
  },
);

/** Plain questions, and agents whose one tool and whose grader write down the folder in which they run. */
function createRun(): Json {
  const { marks } = services;
  const toCases = (count: number, toInput: (caseId: string) => string) =>
    Array.from({ length: count }, (_, index) => {
      const caseId = `case-${index + 1}`;
      return { id: caseId, input: toInput(caseId), target: caseId };
    });
  const grade = `echo "grade $PWD" >> ${marks}/$(cat "$ASSAY_ANSWER")`;
  return {
    name: 'two-hosts',
    models: [{ id: 'model', provider: 'local', model: 'model' }],
    providers: [
      { id: 'local', kind: 'openai-compatible', baseUrl: endpoint.baseUrl, limits: { concurrency: 8 } },
    ],
    requests: [
      {
        name: 'agents',
        harness: { kind: 'agent', tools: ['bash'] },
        environment: 'host',
        suite: {
          name: 'agents',
          scorers: ['exact', { kind: 'command', command: grade }],
          cases: toCases(
            AGENT_CASES,
            (caseId) =>
              `[${caseId}]\nRUN: echo "begin $PWD" >> ${marks}/${caseId}; sleep ${TOOL_SECONDS}; echo "end $PWD" >> ${marks}/${caseId}\n`,
          ),
        },
      },
      {
        name: 'questions',
        suite: {
          name: 'questions',
          scorers: ['exact'],
          cases: toCases(DIRECT_CASES, (caseId) => `Say [${caseId}]`),
        },
      },
    ],
    execution: { taskConcurrency: 16, seed: 7 },
  };
}

type Mark = { readonly step: string; readonly path: string };

const readMarks = (caseId: string): readonly Mark[] =>
  readFileSync(join(services.marks, caseId), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [step = '', ...path] = line.split(' ');
      return { step, path: path.join(' ') };
    });

/** Cases whose tool runs in a session of this host now. */
const running = ({ dataDir }: WorkerHost): readonly string[] =>
  readdirSync(services.marks).filter((caseId) => {
    const [begin, end] = readMarks(caseId);
    return begin?.path.startsWith(dataDir) === true && end === undefined;
  });

async function loadAttempts(runId: string) {
  const { rows } = await services.db.query<{
    cell: string;
    caseId: string;
    request: string;
    outcome: string;
  }>(
    `select task || '/' || attempt || '/' || generation as cell, case_id as "caseId", requests.name as request, outcome
      from attempts join tasks using (run_id, task) join requests using (run_id, request_index)
      where run_id = $1 and outcome is not null`,
    [runId],
  );
  return rows;
}

async function hasUnknownTool(runId: string, caseId: string): Promise<boolean> {
  const { rows } = await services.db.query<{ state: string; executions: number }>(
    `select state, executions from tool_calls join tasks using (run_id, task) where run_id = $1 and case_id = $2`,
    [runId, caseId],
  );
  expect(rows.map(({ executions }) => executions)).toEqual([1]);
  return rows.some(({ state }) => state === 'started');
}

/** Tool and grader of a case ran once each, below the data folder of the host that its session's row names. */
async function expectStepsAtHome(runId: string): Promise<void> {
  const { rows } = await services.db.query<{ caseId: string; hostId: string; root: string }>(
    `select case_id as "caseId", host_id as "hostId", root
      from environment_sessions join tasks using (run_id, task) where run_id = $1 and purpose = 'task'`,
    [runId],
  );
  expect(rows).toHaveLength(AGENT_CASES);
  expect(new Set(rows.map(({ hostId }) => hostId))).toEqual(new Set(hosts.map((host) => host.hostId())));
  for (const { caseId, hostId } of rows) {
    const home = hosts.find((host) => host.hostId() === hostId)?.dataDir ?? 'no such host';
    const steps = readMarks(caseId);
    expect(new Set(steps.map(({ step }) => step)).size).toBe(steps.length);
    expect(steps.filter(({ path }) => !path.startsWith(home))).toEqual([]);
  }
}

async function expectNothingLeft(): Promise<void> {
  const left = () =>
    hosts.flatMap(({ dataDir }) =>
      readdirSync(join(dataDir, 'sessions')).filter((name) => !name.startsWith('.')),
    );
  await until(() => left().length === 0);
  expect(hosts.flatMap(({ dataDir }) => findProcesses(join(dataDir, 'sessions')))).toEqual([]);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(hosts.map((host) => host.log().slice(-3_000)).join('\n\n'));
    await sleep(50);
  }
}
