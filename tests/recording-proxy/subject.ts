import { orderTasks } from '../../src/domain/order-tasks.ts';
import { estimateRun } from '../../src/domain/estimate.ts';
import type { Cell } from '../../src/domain/ids.ts';
import type { Json } from '../../src/domain/json.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import { BlobCache } from '../../src/activities/blob-cache.ts';
import type { Dependencies } from '../../src/activities/dependencies.ts';
import {
  openRecordingProxy,
  type RecordingProxy,
  type RecordingRequest,
} from '../../src/activities/recording-proxy.ts';
import { printTasks } from '../../src/activities/fingerprints.ts';
import { toRequestPlans } from '../../src/activities/request-plans.ts';
import { RunReader } from '../../src/activities/run-reader.ts';
import { TranscriptCache } from '../../src/activities/transcript-cache.ts';
import { createProvider, toEngineId } from '../../src/providers/lookup.ts';
import { loadAttemptDetail } from '../../src/store/attempt-detail.ts';
import { savePreparedRun } from '../../src/store/prepared-run.ts';
import { insertRun } from '../../src/store/runs.ts';
import type { TransactionalDb } from '../../src/store/pool.ts';
import { loadTranscript } from '../../src/store/steps.ts';
import { openTestStore } from '../store/support.ts';
import { load } from '../support/load.ts';

/** The provider's key: it must be seen by the endpoint alone. */
export const KEY = 'sk-the-key-of-the-provider-0123456789';

type Budgets = { readonly [name: string]: Json };

export type Wanted = {
  readonly provider: { readonly [name: string]: Json };
  readonly model?: { readonly [name: string]: Json };
  readonly budgets?: Budgets;
  readonly limits?: { readonly [name: string]: Json };
  readonly cases?: readonly string[];
} & Partial<Pick<RecordingRequest, 'session' | 'maxSteps' | 'signal' | 'tryNumber'>>;

/** A database of its own, in which runs are planned whose cells get proxies. */
export async function openProxySubject() {
  const { pool, close } = await openTestStore();
  const { redact } = createRedactor([KEY]);
  const runs = new RunReader(pool);
  const none = (name: string) => () => {
    throw new Error(`${name} is not part of this test`);
  };
  const store = { failures: 0 };
  /** The pool, and a connection that breaks when a test says so. */
  const db: TransactionalDb = {
    connect: () => pool.connect(),
    query: (config) => {
      if (store.failures === 0) return pool.query(config);
      store.failures -= 1;
      throw Object.assign(new Error('the connection ended'), { code: '57P01' });
    },
  };
  const throttled: string[] = [];
  /** Slots that requests hold, now and at the most. */
  const slots = { out: 0, most: 0 };
  const dependencies: Dependencies = {
    db,
    runs,
    blobs: new BlobCache(pool),
    transcripts: new TranscriptCache(pool),
    readKey: (name) => (name === 'PROXY_TEST_KEY' ? KEY : null),
    providerFor: (spec) =>
      createProvider(spec, {
        apiKey: null,
        resolveTarget: (cell) => runs.target({ runId: cell.runId, requestIndex: 0, caseId: cell.caseId }),
      }),
    environmentFor: none('environmentFor'),
    analyzers: [],
    onSessionKept: none('onSessionKept'),
    modules: null as never,
    mcp: null as never,
    mcpLists: null as never,
    hostId: 'test-host',
    onThrottled: (engineId) => throttled.push(engineId),
    borrowSlot: async () => {
      slots.out += 1;
      slots.most = Math.max(slots.most, slots.out);
      return () => void (slots.out -= 1);
    },
    onEngine: () => undefined,
    redact,
    random: Math.random,
    now: Date.now,
    hasSearchAttributes: () => Promise.resolve(false),
  };
  let number = 0;
  const plan = async (wanted: Wanted): Promise<Cell> => {
    number += 1;
    const runId = `proxied-${number}`;
    const { cases = ['one'] } = wanted;
    const loaded = await load({
      name: 'proxied',
      providers: [{ id: 'served', ...wanted.provider }],
      models: [{ id: 'fast', provider: 'served', model: 'tiny-1', ...wanted.model }],
      requests: [
        {
          name: 'main',
          suite: {
            name: 'cases',
            cases: cases.map((id) => ({ id, input: `Do ${id}.`, target: 'done' })),
            scorers: ['exact'],
          },
          ...(wanted.limits === undefined ? {} : { limits: wanted.limits }),
        },
      ],
      ...(wanted.budgets === undefined ? {} : { budgets: wanted.budgets }),
    });
    const requests = toRequestPlans(loaded);
    const { spec, suites } = loaded;
    await insertRun(pool, { runId, name: 'proxied', documentDigest: null, workflowId: `run/${runId}` });
    const engines = spec.providers.map((provider) => ({ ...provider, engineId: toEngineId(provider) }));
    await savePreparedRun(pool, {
      plan: { format: 1, runId, spec, requests, skippedModels: [], estimate: estimateRun(spec, suites) },
      suites,
      ...printTasks(dependencies, loaded, orderTasks([{ spec: requests[0]!.spec, caseIds: cases }])),
      engines,
    });
    return { runId, task: 1, attempt: 1, generation: 1, requestIndex: 0, modelId: 'fast', caseId: cases[0]! };
  };
  const open = async (wanted: Wanted): Promise<OpenedProxy> => {
    const cell = await plan(wanted);
    const proxy = await openFor(cell, wanted);
    return { cell, proxy, [Symbol.asyncDispose]: () => proxy.close() };
  };
  const openFor = (cell: Cell, wanted: Partial<Wanted> = {}): Promise<RecordingProxy> =>
    openRecordingProxy(dependencies, {
      cell,
      tryNumber: wanted.tryNumber ?? 1,
      session: wanted.session ?? null,
      signal: wanted.signal ?? new AbortController().signal,
      ...(wanted.maxSteps === undefined ? {} : { maxSteps: wanted.maxSteps }),
    });
  return {
    pool,
    dependencies,
    /** The next statements fail as when Postgres is away; returns how many of the last ones have not yet. */
    breakStore: (statements: number): number => {
      const left = store.failures;
      store.failures = statements;
      return left;
    },
    throttled,
    slots,
    plan,
    open,
    openFor,
    /** The rows of a cell's requests, and its transcript. */
    read: async (cell: Cell) => {
      const [detail] = (await loadAttemptDetail(pool, { runId: cell.runId, caseId: cell.caseId })).filter(
        ({ key }) => key.task === cell.task,
      );
      const transcript = await loadTranscript(pool, { key: cell, tryNumber: 1, upToSequence: 1_000_000 });
      return { ...detail!, transcript };
    },
    close,
  };
}

export type OpenedProxy = AsyncDisposable & { readonly cell: Cell; readonly proxy: RecordingProxy };

export type ProxySubject = Awaited<ReturnType<typeof openProxySubject>>;
