import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, readQuestion, sendJson, startModelServer } from './model-server.ts';
import { begin, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

/** Cases whose texts tell which run asks. */
const named = (name: string, count: number) => ({
  name: 'named',
  scorers: ['exact'],
  cases: Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index}`,
    input: `${name} ${index}`,
    target: 'yes',
  })),
});

test('a run of few calls does not wait behind all calls of a large one for the slots of their engine', async () => {
  const seen: string[] = [];
  await using server = await startModelServer(async (response, request) => {
    seen.push(readQuestion(request).split(' ')[0] ?? '');
    await sleep(300);
    sendJson(response, answerSum(request));
  });
  const document = (name: string, cells: number) => ({
    providers: [server.provider({ limits: { concurrency: 1 } })],
    models: [{ id: 'm', provider: 'local', model: 'm' }],
    suite: named(name, cells),
    execution: { taskConcurrency: 100 },
  });
  const large = await begin(assay, document('large', 36));
  await waitFor('the first requests', async () => seen.length >= 6);
  const small = await begin(assay, document('small', 4));
  await assay.result(small);
  await assay.result(large);
  const places = seen.flatMap((run, index) => (run === 'small' ? [index] : []));
  expect(seen).toHaveLength(40);
  expect(places.at(-1)).toBeLessThan(30);
});
