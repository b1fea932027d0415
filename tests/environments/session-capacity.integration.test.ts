import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { startHolding } from '../workflows/holding-server.ts';
import { begin, cancelAndWait, sums, waitFor, workflowOf } from '../workflows/support.ts';

const CAPACITY = 3;

/** Sessions that are open now, and the most that were since the last look. */
const open = new Set<string>();
let most = 0;

let assay: TestAssay;
beforeAll(async () => {
  // Read when a worker is built.
  vi.stubEnv('ASSAY_SESSIONS', `host=${CAPACITY}`);
  assay = await createTestAssay({
    wrapEnvironment: (environment) => ({
      ...environment,
      open: async (request) => {
        open.add(request.sessionId);
        most = Math.max(most, open.size);
        return await environment.open(request);
      },
      close: async (handle) => {
        await environment.close(handle);
        open.delete(handle.sessionId);
      },
    }),
  });
  await assay.startWorker();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await assay.close();
});

const set = (runId: string, sessions: object) =>
  workflowOf(assay, runId).executeUpdate('set', { args: [{ sessions }] });

/** Workers hear of a limit within a second or so. */
const waitForCapacity = (capacity: number) =>
  waitFor(`capacity ${capacity}`, async () =>
    assay.workers.every(({ environments }) =>
      environments.some(
        ({ provider, slots }) => provider.kind === 'host' && slots.limits.capacity === capacity,
      ),
    ),
  );

test('AC-L1 AC-L10 two runs and two workers of a host share its places, which are lowered and raised while they are in use', async () => {
  await using endpoint = await startHolding();
  const document = {
    providers: [endpoint.server.provider({ limits: { concurrency: 50 } })],
    models: [{ id: 'one', provider: 'local', model: 'one' }],
    suite: sums(9),
    environment: 'host',
    execution: { taskConcurrency: 9 },
  };
  const runs = [await begin(assay, document), await begin(assay, document)] as const;
  const waitForHeld = (count: number) =>
    waitFor(`${count} calls`, async () => endpoint.held().length === count, 60_000);
  await waitForHeld(CAPACITY);
  expect(most).toBe(CAPACITY);
  expect(await set(runs[0], { host: 1 })).toMatchObject({
    changes: [{ limit: 'sessions.host', from: 'auto', to: '1' }],
  });
  await waitForCapacity(1);
  // What is out stays out; nothing opens before it is fewer than the new capacity.
  for (let out = CAPACITY; out > 0; out -= 1) {
    most = 0;
    endpoint.release('one');
    await waitForHeld(Math.max(1, out - 1));
  }
  for (const _ of [1, 2, 3]) {
    endpoint.release('one');
    await waitForHeld(1);
  }
  expect(most).toBe(1);
  await set(runs[1], { host: 5 });
  await waitForCapacity(5);
  await waitForHeld(5);
  expect(most).toBe(5);
  await set(runs[1], { host: 'auto' });
  const ended = Promise.all(runs.map((runId) => assay.result(runId)));
  const pump = setInterval(() => endpoint.held().forEach(() => endpoint.release('one')), 50);
  for (const result of await ended)
    expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 9 } });
  clearInterval(pump);
  expect(most).toBe(5);
  await waitFor('the last close', async () => open.size === 0);
});

test('a kind that no worker opens is refused', async () => {
  const runId = await begin(assay, {
    models: [
      { id: 'slow', provider: 'mock', model: 'oracle', params: { faults: [{ fault: { kind: 'hang' } }] } },
    ],
    suite: sums(1),
  });
  await expect(set(runId, { vm: 1 })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('sessions.vm: no worker opens environment "vm"') },
  });
  await cancelAndWait(assay, runId);
});
