import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRun, type LoadRequest } from '../../src/config/load.ts';
import { SELECT_ALL } from '../../src/config/selection.ts';
import { startRun } from '../../src/client/start-run.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { findEngineProblem, startEngine } from '../environments/docker-subject.ts';
import { importPythonImage } from '../environments/python-image.ts';
import { createTestAssay, createTestRunId } from '../support/assay.ts';
import { readSessions } from '../workflows/sessions.ts';
import { loadCells } from '../workflows/support.ts';

const path = join(import.meta.dirname, '../../examples/coding-agent/run.yaml');

type Change = Pick<LoadRequest, 'overrides' | 'selection'>;

const load = (change: Change) =>
  loadRun({ source: { kind: 'file', path }, catalog: createBuiltInCatalog(), ...change });

async function runExample(change: Change) {
  const assay = await createTestAssay();
  onTestFinished(() => assay.close());
  const loaded = await load(change);
  const { runId } = await startRun(assay.connection, { loaded, runId: createTestRunId(), approved: false });
  await assay.result(runId);
  const { cells } = await loadReportRows(assay.db, runId);
  return { rows: await loadCells(assay, runId), cells, sessions: await readSessions(assay, runId) };
}

test('the example has eight programs, each with a good and a bad way', async () => {
  const { spec, suites, warnings } = await load({});
  expect(warnings).toEqual([]);
  expect(spec.requests).toMatchObject([
    {
      harness: { kind: 'command', proxy: true },
      environment: { kind: 'docker', network: { run: { mode: 'none' } } },
      evaluation: 'fresh',
    },
  ]);
  const ids = [...suites.values()][0]?.cases.map(({ testCase }) => testCase.id) ?? [];
  expect(ids).toHaveLength(8);
  expect(spec.models[0]?.params).toMatchObject({
    script: {
      cases: Object.fromEntries(ids.map((id) => [id, { good: expect.any(Array), bad: expect.any(Array) }])),
    },
  });
  const onHost = await load({ overrides: { environment: 'host' } });
  expect(onHost.spec.requests[0]?.environment).toMatchObject({
    kind: 'host',
    image: null,
    network: { run: { mode: 'public' } },
  });
});

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: the example in bubblewrap: ${problem}`);

test.skipIf(problem !== null)(
  'examples/coding-agent in bubblewrap: the agent mends programs without network, and each is graded afresh',
  { timeout: 240_000 },
  async () => {
    const { cells, sessions } = await runExample({
      overrides: { environment: 'bubblewrap', attempts: 1, taskConcurrency: 8 },
      selection: { ...SELECT_ALL, models: ['careful'] },
    });
    expect(cells.map(({ outcome }) => outcome?.kind)).toEqual(Array.from({ length: 8 }, () => 'scored'));
    const solved = cells.filter(({ outcome }) => outcome?.kind === 'scored' && outcome.pass);
    expect(solved.length).toBeGreaterThanOrEqual(6);
    expect(solved.length).toBeLessThan(8);
    // The proxy knows what the agent never says.
    for (const { usage, costUsd, calls } of cells) {
      expect(calls).toBeGreaterThanOrEqual(3);
      expect(usage.inputTokens).toBeGreaterThan(300);
      expect(costUsd).toBeGreaterThan(0);
    }
    expect(sessions).toHaveLength(16);
    expect(sessions.every(({ state }) => state === 'closed')).toBe(true);
  },
);

const skip = findEngineProblem();
if (skip !== null) console.warn(`skipped: the example in docker: ${skip}`);

describe.skipIf(skip !== null)('examples/coding-agent in docker', () => {
  test('the run file as it is: containers without network but the proxy', { timeout: 240_000 }, async () => {
    const engine = await startEngine();
    onTestFinished(() => engine.stop());
    vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
    await importPythonImage(engine.docker, 'python:3.12-slim');
    const { rows, cells } = await runExample({
      overrides: { attempts: 1 },
      selection: { ...SELECT_ALL, models: ['careful', 'sloppy'], cases: ['intervals'] },
    });
    expect(rows.map(({ model_id, score }) => [model_id, score])).toEqual([
      ['careful', 1],
      ['sloppy', 0.6],
    ]);
    expect(cells.map(({ calls }) => calls)).toEqual([4, 3]);
  });
});
