import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from '../workflows/sessions.ts';
import { bash, begin, loadCells, script, sums } from '../workflows/support.ts';
import { describeBubblewrap } from './bubblewrap-subject.ts';
import { GRADED_IN_ALL_MODES, runEvaluationModes } from './evaluation-modes.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: runs in environment bubblewrap: ${problem}`);

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const graded = (command: string) => ({ ...sums(1), scorers: [{ kind: 'command', command }] });

describe.skipIf(problem !== null)('runs in environment bubblewrap', () => {
  test('an agent acts in a sandbox without network, is graded, and nothing of it is left', async () => {
    const tries = `(exec 3<>/dev/tcp/127.0.0.1/${new URL(`http://${assay.temporal.temporalAddress}`).port}) 2>/dev/null && echo open > net || echo cut > net; setsid sleep 1000 & pwd > where`;
    const runId = await begin(assay, {
      models: [script([bash(tries), { say: 'done' }])],
      suite: graded('grep -qx cut net && grep -qx /work where'),
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { kind: 'bubblewrap', network: { run: 'none' } },
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
    const [cell] = await loadCells(assay, runId);
    expect(cell).toMatchObject({ score: 1 });
    expect(await readSessions(assay, runId)).toMatchObject([{ state: 'closed' }]);
    const left = await readdir(join(assay.dataDir, 'sandboxes'));
    expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test.each(['reuse', 'fresh'])(
    'AC-N4 each phase has its own network, evaluation %s: setup, agent, grader',
    async (evaluation) => {
      const port = new URL(`http://${assay.temporal.temporalAddress}`).port;
      const look = `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo open || echo cut`;
      const setup = `[ -e seen ] || { ${look}; } > seen`;
      const grader = `[ "$(${look})" = open ] && [ "$(cat seen)" = "open\ncut" ] || { cat seen; ${look}; exit 1; }`;
      const runId = await begin(assay, {
        models: [script([bash(`{ ${look}; } >> seen`), { say: 'done' }])],
        suite: {
          ...sums(1, { setup }),
          scorers: [{ kind: 'command', command: grader }],
        },
        harness: { kind: 'agent', maxSteps: 5 },
        environment: { kind: 'bubblewrap', network: { run: 'none', evaluation: 'public' } },
        evaluation,
      });
      expect(await assay.result(runId)).toMatchObject({ state: 'completed' });
      expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'scored', score: 1 }]);
    },
  );

  test('AC-A2 AC-A6 AC-A19 an agent without network is graded in its own session, in a fresh one and in none', async () => {
    expect(await runEvaluationModes(assay, { kind: 'bubblewrap' })).toEqual(GRADED_IN_ALL_MODES);
  });

  test('AC-N1 a root directory that is not there is told before anything starts', async () => {
    const runId = await begin(assay, {
      models: [script([{ say: 'done' }])],
      suite: sums(1),
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { kind: 'bubblewrap', root: '/nonexistent/root' },
    });
    await expect(assay.result(runId)).rejects.toMatchObject({
      cause: { cause: { message: expect.stringContaining('"/nonexistent/root" is no directory') } },
    });
  });
});
