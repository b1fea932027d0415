import type { Json } from '../../src/domain/json.ts';
import type { TestAssay } from '../support/assay.ts';
import { readSessions } from '../workflows/sessions.ts';
import { bash, begin, loadCalls, loadCells, script, sums } from '../workflows/support.ts';

/** The interfaces that a session has: one, the loopback, where its network is closed. */
const INTERFACES = 'grep -c : /proc/net/dev';
const WORK = `mkdir -p out; ${INTERFACES} > out/net; printf 42 > "out/the answer"`;
/** What the agent left lies where it left it, and the network is open again. */
const GRADER = `grep -qx 1 out/net && grep -qx 42 "out/the answer" && test "$(${INTERFACES})" -gt 1`;

/** What is recorded of a run in which all went well. */
export const GRADED_IN_ALL_MODES = {
  scores: ['reuse 1', 'fresh 1', 'none 1'],
  calls: 6,
  sessions: ['t1 closed', 't1 closed', 't1 closed', 't1/eval-1 closed'],
};

/** One agent without network, graded in each mode: in its own session, in a second one, and in none. */
export async function runEvaluationModes(
  assay: TestAssay,
  environment: { readonly kind: string; readonly [key: string]: Json },
): Promise<typeof GRADED_IN_ALL_MODES> {
  const modes = ['reuse', 'fresh', 'none'] as const;
  const runId = await begin(assay, {
    models: [script([bash(WORK), { say: '1' }])],
    requests: modes.map((mode) => ({
      name: mode,
      suite: {
        ...sums(1),
        name: mode,
        scorers: mode === 'none' ? ['exact'] : ['exact', { kind: 'command', command: GRADER }],
      },
      harness: { kind: 'agent', maxSteps: 5 },
      environment: { ...environment, network: { run: 'none', evaluation: 'public' } },
      evaluation: mode,
    })),
  });
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  const sessions = await readSessions(assay, runId);
  return {
    scores: cells.map(({ request, score, detail }) => `${request} ${score ?? detail}`),
    calls: (await loadCalls(assay, runId)).length,
    sessions: sessions
      .map(({ session_id, state }) => `${session_id.replace(/.*\/t1/, 't1')} ${state}`)
      .toSorted(),
  };
}
