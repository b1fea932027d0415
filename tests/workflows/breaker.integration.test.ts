import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumeRun } from '../../src/client/control-run.ts';
import { loadRun } from '../../src/store/runs.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, sendJson, startModelServer, toCompletion } from './model-server.ts';
import { countOutcomes, loadCalls, loadCells, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ holdPace: { firstHoldMs: 1_500 } });
});
afterAll(() => assay.close());

type Server = Awaited<ReturnType<typeof startModelServer>>;

const model = (id = 'm') => ({ id, provider: 'local', model: 'small' });

const document = (
  server: Server,
  { cases = 200, ...more }: { cases?: number; [key: string]: unknown } = {},
) => ({
  name: 'dead',
  models: [model()],
  providers: [server.provider({ retry: { max: 1, base: '10ms' } })],
  suite: sums(cases),
  ...more,
});

const refuse = (status: number, error: object) => (response: Parameters<typeof sendJson>[0]) =>
  sendJson(response, { error }, status);

const DEAD = {
  'a refused key (401)': refuse(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }),
  'an empty account (402)': refuse(402, { message: 'Insufficient balance' }),
  'a quota that is used up (429)': refuse(429, {
    message: 'You exceeded your current quota',
    code: 'insufficient_quota',
  }),
  'an error text as a success (200, no tokens)': (response: Parameters<typeof sendJson>[0]) =>
    sendJson(
      response,
      toCompletion(
        { content: 'API Error: 429 rate limit exceeded' },
        { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
      ),
    ),
};

test.each(Object.entries(DEAD))(
  'CB-04 CB-13 C25 %s costs one request of 200 cells; the rest is blocked, and a resume runs what is missing',
  async (_, dead) => {
    let mended = false;
    await using server = await startModelServer((response, seen) =>
      mended ? sendJson(response, answerSum(seen)) : dead(response),
    );
    const started = Date.now();
    const runId = await assay.start(document(server));
    const result = await assay.result(runId);
    console.log('took', Date.now() - started, result);
    expect(server.calls()).toHaveLength(1);
    expect(await countOutcomes(assay, runId)).toEqual({ infra: 1, not_run: 199 });
    const blocked = (await loadCells(assay, runId)).filter((cell) => cell.outcome === 'not_run');
    expect(new Set(blocked.map((cell) => cell.try_number))).toEqual(new Set([0]));
    expect(result.state).toBe('completed');
    mended = true;
    const run = await loadRun(assay.db, runId);
    if (run === null) throw new Error('no run');
    await resumeRun(assay.connection, { run, budgets: {} });
    await assay.result(runId);
    expect(await countOutcomes(assay, runId, 2)).toEqual({ scored: 200 });
    expect(server.calls()).toHaveLength(201);
    expect((await loadCalls(assay, runId)).filter((call) => call.generation === 2)).toHaveLength(200);
  },
);
