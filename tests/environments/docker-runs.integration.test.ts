import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from '../workflows/sessions.ts';
import { bash, begin, loadCells, script, sums } from '../workflows/support.ts';
import { GRADED_IN_ALL_MODES, runEvaluationModes } from './evaluation-modes.ts';
import { findEngineProblem, IMAGE, startEngine, type TestEngine } from './docker-subject.ts';

const skip = findEngineProblem();
if (skip !== null) console.warn(`skipped: runs in environment docker: ${skip}`);

describe.skipIf(skip !== null)('runs in environment docker', () => {
  let engine: TestEngine;
  let assay: TestAssay;
  beforeAll(async () => {
    engine = await startEngine();
    // Read by the engine's client when the worker is built.
    vi.stubEnv('DOCKER_HOST', `unix://${engine.socketPath}`);
    assay = await createTestAssay();
  });
  afterAll(async () => {
    await assay.close();
    await engine.stop();
  });

  const agent = { harness: { kind: 'agent', maxSteps: 5 } };

  test('an agent acts in a container without network, its work is graded, and nothing is left', async () => {
    const runId = await begin(assay, {
      models: [
        script([bash('grep -c : /proc/net/dev > net; echo 42 > answer; sleep 1000 &'), { say: 'done' }]),
      ],
      suite: { ...sums(1), scorers: [{ kind: 'command', command: 'grep -qx 1 net && grep -qx 42 answer' }] },
      ...agent,
      environment: {
        kind: 'docker',
        image: IMAGE,
        network: { run: 'none' },
        resources: { memory: '256m', pids: 100 },
      },
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
    const [cell] = await loadCells(assay, runId);
    expect(cell).toMatchObject({ score: 1 });
    expect(await readSessions(assay, runId)).toMatchObject([{ state: 'closed' }]);
    expect(await engine.docker.listContainers({ all: true })).toEqual([]);
    const { rows } = await assay.db.query<{ resources: object; root: string }>(
      'select resources, root from environment_sessions where run_id = $1',
      [runId],
    );
    expect(rows).toMatchObject([{ resources: { memoryBytes: 2 ** 28, pids: 100, by: 'docker' } }]);
  });

  test('AC-A2 AC-A6 AC-A19 an agent without network is graded in its own container, in a fresh one and in none', async () => {
    expect(await runEvaluationModes(assay, { kind: 'docker', image: IMAGE })).toEqual(GRADED_IN_ALL_MODES);
    expect(await engine.docker.listContainers({ all: true })).toEqual([]);
  });

  test('an image that cannot be had is told before anything starts', async () => {
    const runId = await begin(assay, {
      models: [script([{ say: 'done' }])],
      suite: sums(1),
      ...agent,
      environment: { kind: 'docker', image: '127.0.0.1:1/none:1' },
    });
    await expect(assay.result(runId)).rejects.toMatchObject({
      cause: {
        cause: { message: expect.stringContaining('image "127.0.0.1:1/none:1" is not on the docker engine') },
      },
    });
  });
});
