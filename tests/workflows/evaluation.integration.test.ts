import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { listArtifacts } from '../../src/store/artifacts.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import {
  bash,
  begin,
  cancelAndWait,
  loadCalls,
  loadCells,
  script,
  sums,
  waitFor,
  waitForCalls,
} from './support.ts';

let assay: TestAssay;
const marks = mkdtempSync(join(tmpdir(), 'assay-evaluation-'));
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true, force: true });
});

type Mode = 'reuse' | 'none' | 'fresh';

const WORK = 'mkdir -p out; printf 42 > out/answer.txt; echo $((1+1)) > "two words.txt"; sleep 900 &';

/** An agent that leaves files and a process behind, graded by a command that looks at them. */
const document = (
  mode: Mode,
  more: { readonly [key: string]: Json } = {},
  setup: string | null = null,
): Json => {
  const command = {
    kind: 'command',
    command: 'test "$(cat out/answer.txt)" = 42; test "$(cat "two words.txt")" = 2',
  };
  return {
    models: [script([bash(WORK), { say: '1' }])],
    suite: {
      ...sums(1, { files: { 'given.txt': 'package.json' }, ...(setup === null ? {} : { setup }) }),
      scorers: mode === 'none' ? ['exact'] : ['exact', command],
    } as Json,
    harness: { kind: 'agent', maxSteps: 5 },
    environment: 'host',
    evaluation: mode,
    ...more,
  };
};

/** The activities of the only attempt, in the order in which its workflow sent them. */
async function listSteps(runId: string): Promise<string[]> {
  const { events } = await assay.client.workflow.getHandle(`run/${runId}/sums/agent/sum-1/a1`).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name == null ? [] : [scheduled.activityType.name],
  );
}

const loadTries = async (runId: string) =>
  (
    await assay.db.query<{
      try_number: number;
      stage: string;
      scope: string;
      pattern: string | null;
      error: string;
    }>('select try_number, stage, scope, pattern, error from tries where run_id = $1 order by try_number', [
      runId,
    ])
  ).rows;

const listLeft = (): string[] =>
  readdirSync(join(assay.dataDir, 'sessions')).filter((name) => !name.startsWith('.'));

const LOOP = ['callModel', 'runTool', 'callModel'];

test.each([
  { mode: 'reuse', steps: ['openSession', ...LOOP, 'evaluate', 'closeSession'], sessions: ['task'] },
  { mode: 'none', steps: ['openSession', ...LOOP, 'closeSession'], sessions: ['task'] },
  {
    mode: 'fresh',
    steps: ['openSession', ...LOOP, 'collect', 'closeSession', 'evaluate'],
    sessions: ['task', 'evaluation'],
  },
] as const)('AC-A2 AC-A7 evaluation $mode: what is done, in order', async ({ mode, steps, sessions }) => {
  const runId = await begin(assay, document(mode));
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 1 } });
  expect(await loadCells(assay, runId)).toMatchObject([{ score: 1, try_number: 1 }]);
  expect(await listSteps(runId)).toEqual(steps);
  const { rows } = await assay.db.query<{ purpose: string; state: string }>(
    'select purpose, state from environment_sessions where run_id = $1 order by created_at',
    [runId],
  );
  expect(rows).toEqual(sessions.map((purpose) => ({ purpose, state: 'closed' })));
  expect(listLeft()).toEqual([]);
});

test('AC-A19 AC-A6 fresh: files are back at their own paths in a second session; named artifacts alone are kept', async () => {
  const all = await begin(assay, document('fresh'));
  await assay.result(all);
  const key = { runId: all, task: 1, attempt: 1, generation: 1 };
  const kept = await listArtifacts(assay.db, { key, tryNumber: 1 });
  expect(kept.map(({ path, bytes }) => [path, bytes])).toEqual([
    ['given.txt', 12],
    ['out/answer.txt', 2],
    ['two words.txt', 2],
  ]);
  const some = await begin(assay, document('reuse', { artifacts: ['out/**'] }));
  await assay.result(some);
  expect(await listArtifacts(assay.db, { key: { ...key, runId: some }, tryNumber: 1 })).toMatchObject([
    { path: 'out/answer.txt' },
  ]);
  expect(await listSteps(some)).toEqual(['openSession', ...LOOP, 'collect', 'evaluate', 'closeSession']);
});

test('AC-A18 artifacts over their limits are left out, and a warning of the attempt says which', async () => {
  const runId = await begin(assay, document('none', { artifacts: { paths: ['**'], maxFiles: 1 } }));
  await assay.result(runId);
  const { rows } = await assay.db.query<{ phase: string; message: string }>(
    'select phase, message from attempt_warnings where run_id = $1',
    [runId],
  );
  expect(rows).toMatchObject([{ phase: 'collect', message: expect.stringContaining('two words.txt') }]);
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'scored' }]);
});

/** Setup that fails from the so-manieth time on, so many times: the first is that of the agent's session. */
const failing = (name: string, from: number, times: number): string => {
  mkdirSync(join(marks, name), { recursive: true });
  const count = `n=$(ls ${join(marks, name)} | wc -l); touch ${join(marks, name)}/$n;`;
  return `${count} test $n -lt ${from} -o $n -ge ${from + times}`;
};

test('AC-R5 AC-R6 AC-R9 a grading that breaks in fresh is done again in a new session each time; the agent ran once', async () => {
  const runId = await begin(assay, document('fresh', { retries: { max: 2 } }, failing('fresh', 1, 1)));
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 1 } });
  expect(await loadTries(runId)).toMatchObject([
    {
      try_number: 1,
      stage: 'evaluate',
      scope: 'grading',
      pattern: null,
      error: expect.stringContaining('setup'),
    },
  ]);
  expect((await loadCalls(assay, runId)).length).toBe(2);
  const sessions = await readSessions(assay, runId);
  expect(sessions.map(({ session_id, state }) => [session_id.replace(/.*\/t/, 't'), state])).toEqual([
    ['t1', 'closed'],
    ['t1/eval-1', 'closed'],
    ['t1/eval-2', 'closed'],
  ]);
  expect(await loadCells(assay, runId)).toMatchObject([{ score: 1, try_number: 1 }]);
});

test('AC-R10 AC-E3 grading that keeps breaking leaves the attempt unscored with its reason, and nothing open', async () => {
  const runId = await begin(assay, document('fresh', {}, failing('broken', 1, 9)));
  await assay.result(runId);
  const [cell] = await loadCells(assay, runId);
  expect(cell).toMatchObject({ outcome: 'unscored' });
  expect(cell?.detail).toContain('evaluation_setup_failed');
  expect(listLeft()).toEqual([]);
});

test('AC-R7 AC-R9 setup fails, then the session is lost to grading in reuse: whole attempts, each with its row', async () => {
  const gone = join(marks, 'gone');
  // The first agent takes its session away under its grader; the second leaves it.
  const take = `if [ ! -e ${gone} ]; then touch ${gone}; mv "$PWD" "$PWD.away"; fi; true`;
  const scorers = [{ kind: 'command', command: 'true' }];
  const runId = await begin(assay, {
    ...(document('reuse', { retries: { max: 1 } }, failing('reuse', 0, 1)) as object),
    models: [script([bash(take), { say: '1' }])],
    suite: { ...sums(1, { setup: failing('reuse', 0, 1) }), scorers },
  } as Json);
  await assay.result(runId);
  const tries = await loadTries(runId);
  expect(tries).toMatchObject([
    { try_number: 1, stage: 'prepare', scope: 'attempt' },
    {
      try_number: 2,
      stage: 'evaluate',
      scope: 'attempt',
      error: expect.stringContaining('environment_lost'),
    },
  ]);
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'scored', try_number: 3 }]);
  expect(existsSync(gone)).toBe(true);
  expect((await readSessions(assay, runId)).every(({ state }) => state === 'closed')).toBe(true);
});

test('AC-A9 AC-E1 a cancel while it is graded closes every session, and the cell is interrupted', async () => {
  const runId = await begin(assay, {
    ...(document('fresh') as object),
    suite: { ...sums(1), scorers: [{ kind: 'command', command: `touch ${marks}/grading; sleep 600` }] },
  } as Json);
  await waitForCalls(assay, runId, { completed: 2 });
  await waitFor('grading', async () => existsSync(join(marks, 'grading')));
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'interrupted' }]);
  expect((await readSessions(assay, runId)).map(({ state }) => state)).toEqual(['closed', 'closed']);
  expect(listLeft()).toEqual([]);
});

test('the way of an agent is judged by its tools, their order and arguments, and its steps', async () => {
  const way = { kind: 'trajectory', order: ['bash', 'read_file'], avoids: ['write_file'], maxSteps: 3 };
  const runId = await begin(assay, {
    models: [
      script([
        bash('echo 42 > a.txt'),
        { tools: [{ name: 'read_file', arguments: { path: 'a.txt' } }] },
        { say: '1' },
      ]),
    ],
    suite: { ...sums(1), scorers: ['exact', way, { ...way, name: 'strict', maxSteps: 2, required: false }] },
    harness: { kind: 'agent', maxSteps: 5 },
    environment: 'host',
  });
  await assay.result(runId);
  const { rows } = await assay.db.query<{ scorer: string; value: number }>(
    'select scorer, value from scores where run_id = $1 order by position',
    [runId],
  );
  expect(rows.map(({ scorer, value }) => [scorer, value])).toEqual([
    ['exact', 1],
    ['trajectory', 1],
    ['strict', 2 / 3],
  ]);
});
