import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, loadCells, script, sums } from './support.ts';

const SECRET = 'sk-try-0123456789abcdef0123456789';

let assay: TestAssay;
const folder = mkdtempSync(join(tmpdir(), 'assay-tries-'));
beforeAll(async () => {
  vi.stubEnv('TRIES_KEY', SECRET);
  // One session of this host at a time.
  vi.stubEnv('ASSAY_SESSIONS', 'host=1');
  writeFileSync(join(folder, 'key'), SECRET);
  assay = await createTestAssay();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await assay.close();
  rmSync(folder, { recursive: true });
});

test('AC-R12 AC-R13 between tries an attempt holds no session, so that others open theirs; its rows hold no key', async () => {
  const failsOnce = `test -e ${folder}/failed || { touch ${folder}/failed; cat ${folder}/key; exit 1; }`;
  const runId = await begin(assay, {
    // The key of a model is known, though nobody answers at its address.
    providers: [
      { id: 'away', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'TRIES_KEY' },
    ],
    models: [script([{ say: '1' }]), { id: 'absent', provider: 'away', model: 'none' }],
    suite: {
      name: 'one',
      scorers: ['exact'],
      cases: [
        { id: 'fails-once', input: 'Say 1.', target: '1', setup: failsOnce },
        ...[1, 2, 3, 4, 5, 6].map((one) => ({ id: `other-${one}`, input: 'Say 1.', target: '1' })),
      ],
    },
    harness: { kind: 'agent', maxSteps: 3 },
    environment: 'host',
    retries: { max: 1 },
  } as Json);
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 7, skipped: 7 } });
  const sessions = await assay.db.query<{ name: string; opened_at: Date; closed_at: Date }>(
    `select t.case_id || ' ' || try_number as name, opened_at, closed_at
     from environment_sessions s join tasks t using (run_id, task) where run_id = $1 order by opened_at`,
    [runId],
  );
  const names = sessions.rows.map(({ name }) => name);
  expect(names).toHaveLength(8);
  expect(names.indexOf('fails-once 2') - names.indexOf('fails-once 1')).toBeGreaterThan(1);
  for (const [at, { opened_at }] of sessions.rows.entries())
    expect(opened_at.getTime()).toBeGreaterThanOrEqual(sessions.rows[at - 1]?.closed_at.getTime() ?? 0);
  const { rows } = await assay.db.query<{ error: string; plan: string }>(
    'select error, plan from tries join plans on digest = plan_digest where run_id = $1',
    [runId],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.error).toContain('setup of case "fails-once" failed');
  expect(JSON.stringify(rows)).not.toContain(SECRET.slice(8, 24));
});

test('a cap that stops a later try leaves the cell interrupted where a model has answered in one before', async () => {
  const usage = { inputTokens: 400_000, outputTokens: 1 };
  const loses = `test -e ${folder}/lost || { touch ${folder}/lost; rm -rf "$PWD"; }`;
  const model = script([
    { ...bash(loses), usage },
    { ...bash('echo here'), usage },
    { say: '1', usage },
  ]);
  const runId = await begin(assay, {
    models: [{ ...model, params: { ...model.params, maxOutputTokens: 10 }, price: { input: 1, output: 1 } }],
    suite: sums(1),
    harness: { kind: 'agent', maxSteps: 5 },
    environment: 'host',
    budgets: { maxModelUsd: 0.801 },
  } as Json);
  await assay.result(runId);
  const tries = await assay.db.query<{ error: string }>('select error from tries where run_id = $1', [runId]);
  expect(tries.rows).toMatchObject([{ error: expect.stringContaining('environment_lost') as string }]);
  expect(await loadCells(assay, runId)).toMatchObject([
    { outcome: 'interrupted', reason_code: 'budget', try_number: 2 },
  ]);
});
