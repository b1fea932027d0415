import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRunFile } from '../../src/modules/load-run-file.ts';
import { loadPlan } from '../../src/store/plans.ts';
import { isRunning } from '../environments/test-session.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { cancelAndWait, listOpenWorkflows, loadCalls, loadCells } from '../workflows/support.ts';
import { scorer, tool } from './pool.ts';
import { makeProject } from './project.ts';
import { waitUntil } from './wait-until.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

/** Starts a run file; `digest` is that of its bundle as the command saw it. */
async function start(path: string) {
  const loaded = await loadRunFile({ path, catalog: createBuiltInCatalog() });
  const { runId } = await startRun(assay.connection, { loaded, runId: createTestRunId(), approved: false });
  return { runId, digest: loaded.spec.module?.digest };
}

async function run(path: string) {
  const { runId, digest } = await start(path);
  const result = await assay.result(runId);
  return { runId, digest, result, cells: await loadCells(assay, runId) };
}

/** What the agent read of its tools, in order. */
async function loadObservations(runId: string) {
  const { rows } = await assay.db.query<{ text: string }>(
    `select convert_from(b.bytes, 'UTF8') as text from steps s join blobs b on b.digest = s.digest and b.chunk = 0
     where s.run_id = $1 and s.role = 'tool' order by s.task, s.sequence`,
    [runId],
  );
  return rows.map((row) => JSON.parse(row.text) as { text: string; status: string });
}

/** A run file whose one agent calls the named tools in turn, then says "done". */
const agentRun = (
  body: string,
  { tools, more = '' }: { readonly tools: readonly string[]; readonly more?: string },
) => `
import { defineRun, defineScorer, defineTool, z } from 'assay';
import { writeFileSync } from 'node:fs';
${body}
const steps = [...${JSON.stringify(tools)}.map((name) => ({ tools: [{ name, arguments: {} }] })), { say: 'done' }];
export default defineRun({
  models: [{ id: 'agent', provider: 'mock', model: 'script',
    params: { script: { cases: {}, default: { good: steps, bad: [] } } } }],
  harness: { kind: 'agent' },
  suite: { name: 's', scorers: ['includes'], cases: [{ id: 'one', input: 'Go.', target: 'done' }] },
  ${more}
});
`;

test('the example runs: an agent calls its tool without an environment, its scorer judges', async () => {
  const { result, cells } = await run('examples/typescript/run.ts');
  expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 4 } });
  expect(cells.map(({ model_id, case_id, score, pass }) => [model_id, case_id, score, pass])).toEqual([
    ['careful', 'sent', 1, true],
    ['hasty', 'sent', 0.5, false],
    ['careful', 'waiting', 1, true],
    ['hasty', 'waiting', 0.5, false],
  ]);
});

test('tools that hang, throw, exit and leak are observations, and the agent goes on to its answer', async () => {
  const body = `
    ${tool('hangs', '() => { for (;;); }', `timeout: '300ms',`)}
    ${tool('throws', `() => { throw new Error('no such order'); }`)}
    ${tool('exits', '() => process.exit(1)')}
    ${tool('rejects', `() => { void Promise.reject(new Error('unheard')); return new Promise(() => setTimeout(() => 0, 1e6)); }`)}
    ${tool('leaks', '() => { const all: unknown[] = []; for (;;) all.push(new Array(100_000).fill(all.length)); }')}`;
  const path = join(
    makeProject({ 'run.ts': agentRun(body, { tools: ['hangs', 'throws', 'exits', 'rejects', 'leaks'] }) }),
    'run.ts',
  );
  const { runId, result, digest } = await run(path);
  expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
  expect((await loadObservations(runId)).map(({ status, text }) => `${status}: ${text}`)).toEqual([
    expect.stringMatching(/^timeout: hangs timed out after .* its limit is 0\.3 s;/),
    expect.stringMatching(/^error: throws failed: no such order \(at run\.ts:\d+:\d+\)$/),
    expect.stringMatching(/^error: exits broke off: its process exited with code 1/),
    expect.stringMatching(/^error: rejects broke off: an error that nothing caught: unheard/),
    expect.stringMatching(/^error: leaks broke off: it used more memory than its limit of 256 MiB/),
  ]);
  const { module } = (await loadPlan(assay.db, runId)).spec;
  expect(module).toMatchObject({ digest, exportName: 'default', path: 'run.ts' });
  expect(module?.tools.find(({ schema }) => schema.name === 'hangs')).toMatchObject({
    schema: { name: 'hangs', description: 'x' },
    policy: { idempotent: false, timeoutMs: 300, onUnknown: 'refuse', maxAttempts: 1 },
  });
});

test('scorers that hang, exit and give no number leave their own cells unscored, in packs and alone', async () => {
  const kinds = ['hangs', 'exits', 'wild', 'good', 'fine', 'last'];
  const file = (packing: string) => `import { defineRun, defineScorer } from 'assay';
    ${scorer('hangs', '() => { for (;;); }', `timeout: '300ms',`)}
    ${scorer('exits', '() => process.exit(1)')}
    ${scorer('wild', '() => 7')}
    ${['good', 'fine', 'last'].map((name) => scorer(name, `({ answer, target }: { answer: string; target: string }) => answer === target`)).join('\n')}
    export default defineRun({
      models: ['mock:oracle'],
      execution: { taskConcurrency: 1, packing: '${packing}' },
      suite: { cases: ${JSON.stringify(kinds)}.map((id) => ({ id, input: 'Say 1.', target: '1', scorers: [id] })) },
    });`;
  const folder = makeProject({ 'auto.ts': file('auto'), 'off.ts': file('off') });
  for (const packing of ['auto', 'off']) {
    const { result, cells } = await run(join(folder, `${packing}.ts`));
    expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 3, unscored: 3 } });
    const ends = Object.fromEntries(cells.map((cell) => [cell.case_id, cell.detail ?? cell.outcome]));
    expect(ends['hangs']).toContain('scorer hangs: gave no verdict in 0.3 s, its limit');
    expect(ends['exits']).toContain('scorer exits: broke off: its process exited with code 1');
    expect(ends['wild']).toContain('scorer wild broke its contract: value must lie in 0..1, got 7');
    expect(cells.filter(({ outcome }) => outcome === 'scored').map(({ pass }) => pass)).toEqual([
      true,
      true,
      true,
    ]);
  }
});

test('files that change while a run goes change nothing of it, and the next run has another digest', async () => {
  const file = (word: string) =>
    agentRun(`import { word } from './word.ts';\n${tool('says', `() => word + '${word}'`)}`, {
      tools: ['says', 'says'],
    });
  const folder = makeProject({ 'run.ts': file('-1'), 'word.ts': `export const word = 'first';` });
  const path = join(folder, 'run.ts');
  const first = await start(path);
  writeFileSync(path, file('-2'));
  writeFileSync(join(folder, 'word.ts'), `throw new Error('half written');`);
  expect(await assay.result(first.runId)).toMatchObject({ state: 'completed' });
  expect((await loadObservations(first.runId)).map(({ text }) => text)).toEqual(['first-1', 'first-1']);
  expect((await loadPlan(assay.db, first.runId)).spec.module?.digest).toBe(first.digest);
  writeFileSync(join(folder, 'word.ts'), `export const word = 'second';`);
  const second = await run(path);
  expect(second.digest).not.toBe(first.digest);
  expect((await loadObservations(second.runId))[0]?.text).toBe('second-2');
});

test('a package that is gone when a worker prepares the run ends it with what to do', async () => {
  const folder = makeProject({
    'run.ts': agentRun(`import { word } from 'words';\n${tool('says', '() => word')}`, { tools: ['says'] }),
    'node_modules/words/package.json': '{"name":"words","type":"module","exports":"./index.js"}',
    'node_modules/words/index.js': `export const word = 'here';`,
  });
  const path = join(folder, 'run.ts');
  const loaded = await loadRunFile({ path, catalog: createBuiltInCatalog() });
  rmSync(join(folder, 'node_modules'), { recursive: true });
  const { runId } = await startRun(assay.connection, { loaded, runId: createTestRunId(), approved: false });
  const error = await assay.result(runId).then(
    (result) => JSON.stringify(result),
    (cause: unknown) => JSON.stringify(cause, ['message', 'cause']),
  );
  expect(error).toMatch(/run\.ts.* cannot be loaded on this worker: .*'words'/);
  expect(error).toContain('start the worker with --project DIR');
});

test('in an environment an agent has both kinds of tools; a cancel ends the code that is running', async () => {
  const body = tool('busy', `() => { writeFileSync('pid', String(process.pid)); for (;;); }`);
  const folder = makeProject({
    'run.ts': agentRun(body, { tools: ['list_files', 'busy'], more: `environment: 'host',` }),
  });
  const { runId } = await start(join(folder, 'run.ts'));
  await waitUntil('the tool runs', async () => existsSync(join(folder, 'pid')));
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  await cancelAndWait(assay, runId);
  expect(await isRunning(pid)).toBe(false);
  expect((await loadObservations(runId)).map(({ status }) => status)).toEqual(['success']);
  expect((await loadCells(assay, runId)).map(({ outcome }) => outcome)).toEqual(['interrupted']);
  await waitUntil(
    'every workflow has ended',
    async () => (await listOpenWorkflows(assay, runId)).length === 0,
  );
});

test('a provider of the run file answers, and what it throws is retried and told like that of any other', async () => {
  const folder = makeProject({
    'run.ts': `import { appendFileSync, readFileSync } from 'node:fs';
      import { defineProvider, defineRun } from 'assay';
      const house = defineProvider({ kind: 'house', call: async ({ cell, messages }) => {
        appendFileSync(cell.caseId, 'x');
        if (cell.caseId === 'key') throw Object.assign(new Error('no such key'), { status: 401 });
        if (cell.caseId === 'breaks' && readFileSync('breaks').length === 1) process.exit(1);
        return { text: String(messages.length), usage: { inputTokens: 1, outputTokens: 1 } };
      } });
      export default defineRun({
        providers: [{ id: 'mine', kind: house, retry: { max: 2, base: '10ms' } }],
        models: [{ id: 'm', provider: 'mine', model: 'any' }],
        execution: { taskConcurrency: 1 },
        suite: { scorers: ['exact'], cases: ['breaks', 'fine', 'key'].map((id) => ({ id, input: 'Count.', target: '1' })) },
      });`,
  });
  const { runId, cells } = await run(join(folder, 'run.ts'));
  expect(cells.map(({ case_id, outcome, score }) => [case_id, outcome, score])).toEqual([
    ['breaks', 'scored', 1],
    ['fine', 'scored', 1],
    ['key', 'infra', null],
  ]);
  const calls = await loadCalls(assay, runId);
  expect(calls.map(({ case_id, failure_class }) => [case_id, failure_class])).toEqual([
    ['breaks', 'connection'],
    ['breaks', null],
    ['fine', null],
    ['key', 'credential'],
  ]);
});
