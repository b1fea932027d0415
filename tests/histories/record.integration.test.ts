import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { searchAttributes } from '../../src/local/temporal-settings.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import {
  bash,
  begin,
  cancelAndWait,
  oracle,
  script,
  sums,
  waitFor,
  waitForCalls,
} from '../workflows/support.ts';
import { replay, type RecordedHistory } from './replay.ts';

const { IndexedValueType } = temporal.api.enums.v1;

/**
 * Runs one workflow of every kind and replays it. With ASSAY_RECORD_HISTORIES=1 (`npm run histories`) the
 * histories are kept beside this file, for `replay.test.ts` to hold later workflow code against.
 */
const keep = process.env['ASSAY_RECORD_HISTORIES'] === '1';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ options: { maxHeartbeatThrottleInterval: 500 } });
  await addSearchAttributes();
});
afterAll(() => assay.close());

/** With them workflows carry names and outcomes, as they do on the local server. */
async function addSearchAttributes(): Promise<void> {
  const { operatorService } = assay.temporal.connection;
  const { namespace } = assay.client.options;
  const toType = (name: string) =>
    IndexedValueType[`INDEXED_VALUE_TYPE_${name === 'Keyword' ? 'KEYWORD' : 'KEYWORD_LIST'}`];
  const wanted = Object.entries(searchAttributes).map(([name, type]) => [name, toType(type)]);
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(wanted) });
  await waitFor('search attributes', async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return wanted.every(([name]) => customAttributes?.[String(name)] !== undefined);
  });
}

const agentRequest = { harness: { kind: 'agent', maxSteps: 5 }, environment: 'host' };

async function record(name: string, workflowId: string): Promise<RecordedHistory> {
  const history = await assay.client.workflow.getHandle(workflowId).fetchHistory();
  // Where sessions of this machine lie is nobody's business.
  const recorded = { name, workflowId, history: hidePlaces(JSON.parse(historyToJSON(history))) };
  if (keep) {
    const folder = fileURLToPath(new URL('recorded', import.meta.url));
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/${name}.json`, `${JSON.stringify(recorded, null, 1)}\n`);
  }
  return recorded;
}

/** Payloads are base64 of JSON; the data folder in them becomes a plain one, and no identity or stack is told. */
function hidePlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidePlaces);
  if (typeof value !== 'object' || value === null) return value;
  const hide = (key: string, part: unknown): unknown => {
    if (key === 'identity') return 'recorder';
    if (key === 'stackTrace') return '';
    return key === 'data' && typeof part === 'string' ? hideInPayload(part) : hidePlaces(part);
  };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, hide(key, part)]));
}

const hideInPayload = (base64: string): string =>
  Buffer.from(Buffer.from(base64, 'base64').toString('utf8').replaceAll(assay.dataDir, '/data')).toString(
    'base64',
  );

/** What today's code says against a history that it has just made. */
async function replayErrors(histories: readonly RecordedHistory[]): Promise<string[]> {
  const errors: string[] = [];
  for await (const { name, error } of replay(histories)) if (error !== null) errors.push(`${name}: ${error}`);
  return errors;
}

test('a packed run replays: its own workflow and one that carries light tasks', async () => {
  const faults = [{ case: 'sum-2', times: 1, fault: { status: 503, retryAfterMs: 10 } }];
  const runId = await begin(assay, {
    models: [
      oracle('right', { faults, latencyMs: [1, 20] }),
      { ...oracle('gone'), params: { faults: [{ fault: { status: 400 } }] } },
    ],
    requests: [
      { name: 'every', suite: sums(6), attempts: { k: 2 } },
      { name: 'until', suite: sums(6), attempts: { k: 3, strategy: 'pass' } },
    ],
    execution: { taskConcurrency: 4, seed: 1 },
  });
  await assay.result(runId);
  const histories = [
    await record('run-packed', `run/${runId}`),
    await record('task-packed', `run/${runId}/every/tasks/1-12`),
    await record('task-packed-pass', `run/${runId}/until/tasks/13-24`),
  ];
  expect(await replayErrors(histories)).toEqual([]);
});

test('a run of agents replays: run, heavy task and attempt', async () => {
  const suite = { ...sums(1), scorers: ['exact', { kind: 'command', command: 'true' }] };
  const runId = await begin(assay, {
    models: [
      script([bash('echo hi'), { tools: [{ name: 'list_files' }, { name: 'nothing' }] }, { say: '1' }]),
    ],
    suite,
    attempts: { k: 2 },
    execution: { seed: 1 },
    ...agentRequest,
  });
  await assay.result(runId);
  const id = `run/${runId}`;
  const query = `AssayRun = '${runId}' and AssayModel = 'agent' and AssayCase = 'sum-1' and AssayOutcome = 'scored'`;
  await waitFor(
    'both attempts to be found',
    async () => (await assay.client.workflow.count(query)).count === 2,
  );
  const histories = [
    await record('run-heavy', id),
    await record('task-heavy', `${id}/sums/agent/sum-1`),
    await record('attempt-agent', `${id}/sums/agent/sum-1/a1`),
  ];
  expect(await replayErrors(histories)).toEqual([]);
});

test('an attempt with an external agent replays', async () => {
  const runId = await begin(assay, {
    models: [oracle('right')],
    suite: { ...sums(1), scorers: ['exact', { kind: 'command', command: 'true' }] },
    harness: { kind: 'command', command: ['echo', '1'], prompt: 'stdin' },
    environment: 'host',
    evaluation: 'fresh',
    execution: { seed: 1 },
  });
  await assay.result(runId);
  const histories = [await record('attempt-command', `run/${runId}/sums/right/sum-1/a1`)];
  expect(await replayErrors(histories)).toEqual([]);
});

test('an attempt without packing and one whose first try failed replay', async () => {
  const faults = [{ case: 'sum-1', fault: { status: 500, text: 'down' } }];
  const runId = await begin(assay, {
    providers: [{ id: 'once', kind: 'mock', baseUrl: 'http://once.invalid', retry: { max: 0 } }],
    models: [{ ...oracle('right', { faults }), provider: 'once' }],
    suite: sums(1),
    retries: { max: 1 },
    execution: { packing: 'off', seed: 1 },
  });
  await assay.result(runId);
  const histories = [await record('attempt-direct-tries', `run/${runId}/sums/right/sum-1/a1`)];
  expect(await replayErrors(histories)).toEqual([]);
});

test('a cancelled run replays with its cleanup', async () => {
  const steps = [{ ...bash('true') }, { say: 'late', latencyMs: 60_000 }];
  const runId = await begin(assay, {
    models: [script(steps)],
    suite: sums(1),
    execution: { seed: 1 },
    ...agentRequest,
  });
  await waitForCalls(assay, runId, { completed: 1, started: 1 });
  await cancelAndWait(assay, runId);
  const id = `run/${runId}`;
  const histories = [
    await record('run-cancelled', id),
    await record('task-cancelled', `${id}/sums/agent/sum-1`),
    await record('attempt-cancelled', `${id}/sums/agent/sum-1/a1`),
  ];
  expect(await replayErrors(histories)).toEqual([]);
});

test('a run that was approved, paused, given other limits and unpaused replays', async () => {
  const faults = [{ case: 'sum-1', fault: { status: 500, text: 'down' } }];
  const params = { faults, latencyMs: 100, maxOutputTokens: 1_000 };
  const runId = await begin(assay, {
    providers: [{ id: 'once', kind: 'mock', baseUrl: 'http://steered.invalid', retry: { max: 0 } }],
    models: [{ ...oracle('right', params), provider: 'once', price: { input: 1, output: 100 } }],
    suite: sums(8),
    attempts: { k: 2, strategy: 'pass' },
    retries: { max: 1 },
    budgets: { confirmAboveUsd: 0.01 },
    execution: { taskConcurrency: 3, seed: 1, timeout: '5m' },
  });
  const send = (name: string, input: object = {}) =>
    assay.client.workflow.getHandle(`run/${runId}`).executeUpdate(name, { args: [input] });
  await send('approve', { by: 'ana' });
  await waitForCalls(assay, runId, { completed: 1, failed: 1 });
  await send('pause', { note: 'a look' });
  await send('set', { taskConcurrency: 2 });
  await send('unpause');
  await assay.result(runId);
  const histories = [
    await record('run-steered', `run/${runId}`),
    await record('task-steered', `run/${runId}/sums/tasks/1-8`),
  ];
  expect(await replayErrors(histories)).toEqual([]);
});
