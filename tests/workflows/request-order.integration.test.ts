import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decideExit } from '../../src/cli/exit-code.ts';
import { resumeRun } from '../../src/client/control-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { listRequests } from '../../src/store/requests.ts';
import { loadRun } from '../../src/store/runs.ts';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { startHolding } from './holding-server.ts';
import { sendJson, startModelServer } from './model-server.ts';
import {
  begin,
  countOutcomes,
  loadCells,
  oracle,
  reachDeadline,
  sums,
  waitFor,
  workflowOf,
} from './support.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: requests whose environments are prepared: ${problem}`);

/** What became of each root that was asked for; one that is gone cannot be prepared. */
const prepared: { root: string; answered: number }[] = [];
const gone = new Set<string>();
let answered = 0;

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({
    wrapEnvironment: (environment) => ({
      ...environment,
      resolveImage: async (image) => {
        if (image === null) return await environment.resolveImage(image);
        prepared.push({ root: image, answered });
        if (gone.has(image)) throw new Error(`the image ${image} is gone.`);
        return '/';
      },
    }),
  });
});
afterAll(() => assay.close());
beforeEach(() => {
  prepared.length = 0;
  gone.clear();
  answered = 0;
});

/** A request whose sessions start from a root of that name, which has to be found first. */
const sandboxed = (name: string, cases: number, more: { readonly [key: string]: Json } = {}) => ({
  name,
  suite: sums(cases),
  environment: { kind: 'bubblewrap', root: `/${name}` },
  ...more,
});

const listStates = async (runId: string): Promise<readonly (string | null)[]> =>
  (await listRequests(assay.db, runId)).map(({ state }) => state);

/** Images in the fingerprints of a run's tasks: exact names, whenever they were found. */
async function listPrintedImages(runId: string): Promise<readonly string[]> {
  const { rows } = await assay.db.query<{ image: string }>(
    `select distinct p.plan::jsonb -> 'environment' ->> 'image' as image
     from tasks t join plans p on p.digest = t.setup_digest where t.run_id = $1`,
    [runId],
  );
  return rows.map(({ image }) => image);
}

describe.skipIf(problem !== null)('requests whose environments have to be prepared', () => {
  test('AC-O1 AC-O2 AC-O3 AC-O6 AC-O7 each is prepared when it is due, none waits for the end of another, and one ends before an earlier one', async () => {
    await using endpoint = await startHolding({ onAnswer: () => (answered += 1) });
    const model = (id: string) => ({ id, provider: 'local', model: id });
    const runId = await begin(assay, {
      providers: [endpoint.server.provider()],
      models: [model('one'), model('two'), model('three')],
      requests: [
        sandboxed('first', 10, { models: ['one'] }),
        sandboxed('second', 3, { models: ['two'] }),
        sandboxed('third', 5, { models: ['three'] }),
      ],
      execution: { taskConcurrency: 4 },
    });
    const waitForHeld = (count: number) =>
      waitFor(`${count} calls`, async () => endpoint.held().length === count, 60_000);
    const waitForPrepared = (count: number) =>
      waitFor(`${count} prepared requests`, async () => prepared.length === count, 60_000);
    // The first call is answered at once; 5 of the first request are pending, then 4, then 3.
    await waitForHeld(4);
    for (const _ of [1, 2]) {
      expect(prepared.map(({ root }) => root)).toEqual(['/first']);
      endpoint.release('one');
      await waitForHeld(4);
    }
    await waitForPrepared(2);
    for (const _ of [1, 2, 3]) {
      expect(prepared).toHaveLength(2);
      endpoint.release('one');
      await waitForHeld(4);
    }
    await waitForPrepared(3);
    expect(prepared).toEqual([
      { root: '/first', answered: 0 },
      { root: '/second', answered: 3 },
      { root: '/third', answered: 6 },
    ]);
    // The last four of the first request run; one of them goes on until the second has ended.
    for (const _ of [1, 2, 3]) {
      endpoint.release('one');
      await waitForHeld(4);
    }
    expect(endpoint.held().filter((one) => one === 'one')).toHaveLength(1);
    for (const _ of [1, 2, 3]) {
      endpoint.release('two');
      await waitForHeld(4);
    }
    await waitFor('the end of the second request', async () => (await listStates(runId))[1] === 'completed');
    expect(await listStates(runId)).toEqual([null, 'completed', null]);
    expect(await workflowOf(assay, runId).query('progress')).toMatchObject({
      requests: [
        { name: 'first', state: 'running' },
        { name: 'second', state: 'final' },
        { name: 'third', state: 'running' },
      ],
    });
    endpoint.release('one');
    await waitFor('the end of the first request', async () => (await listStates(runId))[0] === 'completed');
    for (let left = 5; left > 0; left -= 1) {
      await waitForHeld(Math.min(4, left));
      endpoint.release('three');
    }
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 18 } });
    expect(await listStates(runId)).toEqual(['completed', 'completed', 'completed']);
    expect(await listPrintedImages(runId)).toEqual(['/']);
    expect(endpoint.most()).toBe(4);
    expect(endpoint.arrived).toEqual([
      ...Array<string>(10).fill('one'),
      ...Array<string>(3).fill('two'),
      ...Array<string>(5).fill('three'),
    ]);
  }, 180_000);

  test('AC-O5 AC-O11 requests that cannot be prepared are over alone, the run is failed, and a resume runs them', async () => {
    gone.add('/first').add('/third');
    const runId = await begin(assay, {
      models: [oracle()],
      requests: [
        sandboxed('first', 2),
        sandboxed('second', 3),
        sandboxed('third', 2),
        sandboxed('fourth', 2),
      ],
      execution: { taskConcurrency: 2 },
    });
    const result = await assay.result(runId);
    expect(result).toMatchObject({
      state: 'failed',
      outcomes: { scored: 5, not_run: 4 },
      reason: {
        code: 'preparation',
        message:
          'Request first could not be prepared: the image /first is gone. Request third could not be prepared: the image /third is gone.',
      },
      missing: [],
    });
    expect(await listStates(runId)).toEqual(['failed', 'completed', 'failed', 'completed']);
    const [cell] = await loadCells(assay, runId);
    expect(cell).toMatchObject({ outcome: 'not_run', reason_code: 'preparation', try_number: 0 });
    expect((await loadReportRows(assay.db, runId)).requests.map(({ failure }) => failure)).toEqual([
      'the image /first is gone.',
      null,
      'the image /third is gone.',
      null,
    ]);
    const { state } = result;
    expect(decideExit({ state, gateFailures: [], planned: 9, scored: 5, unfinished: 4 }).code).toBe(1);
    gone.clear();
    const run = await loadRun(assay.db, runId);
    if (run === null) throw new Error('the run is gone');
    expect(await resumeRun(assay.connection, { run, budgets: {} })).toMatchObject({
      cells: 4,
      generation: 2,
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 9 } });
    expect(await listStates(runId)).toEqual(['completed', 'completed', 'completed', 'completed']);
    expect(await countOutcomes(assay, runId, 2)).toEqual({ scored: 4 });
  }, 120_000);

  test('a request is prepared after an earlier one whose cells an engine that is down has kept from running', async () => {
    const body = { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } };
    await using server = await startModelServer((response) => sendJson(response, body, 401));
    const runId = await begin(assay, {
      providers: [server.provider()],
      models: [{ id: 'dead', provider: 'local', model: 'dead' }, oracle()],
      requests: [
        // More than one page of tasks: some are over before they are listed.
        { name: 'first', suite: sums(600), models: ['dead'] },
        sandboxed('second', 2, { models: ['right'] }),
      ],
      execution: { taskConcurrency: 4 },
    });
    expect(await assay.result(runId)).toMatchObject({
      planned: 602,
      outcomes: { infra: 1, not_run: 599, scored: 2 },
    });
    expect(await listStates(runId)).toEqual(['completed', 'completed']);
  }, 120_000);

  test('a run none of whose requests can be prepared is refused with all reasons', async () => {
    gone.add('/first').add('/second');
    const runId = await begin(assay, {
      models: [oracle()],
      requests: [sandboxed('first', 2), sandboxed('second', 2)],
    });
    await expect(assay.result(runId)).rejects.toMatchObject({
      cause: {
        cause: { message: expect.stringMatching(/image \/first is gone.*\n.*image \/second is gone/) },
      },
    });
  });
});

test('AC-O4 a request all of whose cells are taken from another run ends once the earlier queue is empty, and not before', async () => {
  await using endpoint = await startHolding();
  const model = (id: string) => ({ id, provider: 'local', model: id });
  const second = { name: 'second', suite: sums(1), models: ['two'] };
  const document = {
    providers: [endpoint.server.provider()],
    models: [model('one'), model('two')],
    execution: { taskConcurrency: 2 },
  };
  const source = await begin(assay, { ...document, requests: [second] });
  expect(await assay.result(source)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
  const runId = await assay.start(
    { ...document, requests: [{ name: 'first', suite: sums(5), models: ['one'] }, second] },
    { reuse: { runId: source } },
  );
  const releaseOne = async () => {
    await waitFor('a call', async () => endpoint.held().length > 0);
    endpoint.release('one');
  };
  // With two places at most four of the five have been started before the third has ended.
  for (const _ of [1, 2, 3]) {
    await waitFor('a call', async () => endpoint.held().length > 0);
    expect(await listStates(runId)).toEqual([null, null]);
    await releaseOne();
  }
  await waitFor('the end of the second request', async () => (await listStates(runId))[1] === 'completed');
  expect(await listStates(runId)).toEqual([null, 'completed']);
  for (const _ of [1, 2]) await releaseOne();
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 6 } });
  expect(await listStates(runId)).toEqual(['completed', 'completed']);
  expect(endpoint.arrived).toEqual(['two', ...Array<string>(5).fill('one')]);
});

test('AC-O8 AC-O9 a single request takes the same places, and its results stand in the order of its cases', async () => {
  await using endpoint = await startHolding();
  const runId = await begin(assay, {
    providers: [endpoint.server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'one' }],
    suite: sums(4),
    execution: { taskConcurrency: 3 },
  });
  await waitFor('3 calls', async () => endpoint.held().length === 3);
  expect(endpoint.most()).toBe(3);
  // The last call is answered first.
  endpoint.releaseLast();
  await waitFor('its result', async () => (await countOutcomes(assay, runId))['scored'] === 2);
  endpoint.releaseLast();
  await waitFor('the next result', async () => (await countOutcomes(assay, runId))['scored'] === 3);
  endpoint.releaseLast();
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 4 } });
  const { cells } = await loadReportRows(assay.db, runId);
  expect(cells.map(({ caseId }) => caseId)).toEqual(['sum-1', 'sum-2', 'sum-3', 'sum-4']);
  expect(await listStates(runId)).toEqual(['completed']);
});

test('AC-L7 at the deadline every unfinished request has a terminal state, and one that had ended keeps its own', async () => {
  const hang = { faults: [{ case: 'sum-2', fault: { kind: 'hang' } }] };
  const runId = await begin(assay, {
    models: [oracle('right'), oracle('hangs', hang)],
    requests: [
      { name: 'done', suite: sums(2), models: ['right'] },
      { name: 'cut off', suite: sums(2), models: ['hangs'] },
      { name: 'never begun', suite: sums(3), models: ['right'] },
    ],
    execution: { taskConcurrency: 1, timeout: '1h' },
  });
  await waitFor('the call that hangs', async () => (await countOutcomes(assay, runId))['scored'] === 3);
  await reachDeadline(assay, runId);
  expect(await assay.result(runId)).toMatchObject({
    state: 'timed_out',
    outcomes: { scored: 3, interrupted: 1, not_run: 3 },
    missing: [],
  });
  expect(await listStates(runId)).toEqual(['completed', 'timed_out', 'timed_out']);
});
