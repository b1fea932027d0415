import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { loadProgress } from '../../src/store/progress.ts';
import { forgetWorkerKeys, listChangedWaits, saveWorkerKeys } from '../../src/store/worker-keys.ts';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';

let assay: TestAssay;
let server: Awaited<ReturnType<typeof startHttpServer>>;
beforeAll(async () => {
  assay = await createTestAssay();
  server = await startHttpServer((response) => sendJson(response, toCompletion({ content: 'yes' })));
});
afterAll(async () => {
  await assay.close();
  await server[Symbol.asyncDispose]();
});

const startLocked = async (variable: string, keys: readonly string[]): Promise<string> => {
  const runId = createTestRunId();
  const document = {
    name: 'locked',
    providers: [{ id: 'locked', kind: 'openai-compatible', baseUrl: server.baseUrl, apiKeyEnv: variable }],
    models: [
      { id: 'plain', provider: 'locked', model: 'plain' },
      { id: 'free', provider: 'mock', model: 'echo' },
    ],
    suite: { name: 's', scorers: ['exact'], cases: [{ id: 'a', input: 'q', target: 'yes' }] },
  };
  await assay.client.workflow.start('run', {
    workflowId: toRunWorkflowId(runId),
    taskQueue: 'assay',
    args: [{ runId, document, baseDir: assay.dataDir, keys }],
  });
  return runId;
};

async function until<T>(look: () => Promise<T | null | undefined>): Promise<T> {
  for (let count = 0; count < 200; count += 1) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    await sleep(50);
  }
  throw new Error('it did not come');
}

test('a key that was lost before the run was planned is waited for, not skipped', async () => {
  const runId = await startLocked('ASSAY_TEST_LOST_KEY', ['ASSAY_TEST_LOST_KEY']);
  const waiting = await until(async () => {
    const progress = await loadProgress(assay.db, runId);
    return progress !== null && progress.missingKeys.length > 0 ? progress : null;
  });
  expect(waiting).toMatchObject({ state: 'preparing', missingKeys: ['ASSAY_TEST_LOST_KEY'] });
  process.env['ASSAY_TEST_LOST_KEY'] = 'a-key-that-came-back';
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 2 } });
});

test('a key that another worker has is no reason to skip: the calls wait for that worker', async () => {
  const name = 'ASSAY_TEST_FOREIGN_KEY';
  await saveWorkerKeys(assay.db, { workerId: 'other/1', held: [name], missed: [] });
  const runId = await startLocked(name, []);
  const half = await until(async () => {
    const progress = await loadProgress(assay.db, runId);
    return progress?.rows.some(({ modelId, done }) => modelId === 'free' && done === 1) ? progress : null;
  });
  expect(half.rows.find(({ modelId }) => modelId === 'plain')).toMatchObject({
    done: 0,
    skipped: 0,
    errors: 0,
  });
  // While that worker is there nobody has to do a thing; once it has gone, a person has.
  await saveWorkerKeys(assay.db, { workerId: 'this/1', held: [], missed: [name] });
  expect(await listChangedWaits(assay.db)).toEqual([]);
  await forgetWorkerKeys(assay.db, 'other');
  expect(await listChangedWaits(assay.db)).toMatchObject([{ runId, missing: [name] }]);
  process.env[name] = 'a-key-that-came-late';
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 2 } });
});
