import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { loadHistories } from './long-agent.ts';
import { bash, begin, loadCells, script, sums } from './support.ts';

const TURNS = 200;
/** About two thousand tokens. */
const TURN_BYTES = 8_000;
const RESULT_BYTES = 5_000_000;

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

test(
  'C29 an agent of 200 turns of 2,000 tokens, one of them with a tool result of 5 MB: contents are blobs, its history holds references and stays small',
  { timeout: 300_000 },
  async () => {
    const turns = Array.from({ length: TURNS - 2 }, (_, index) => ({
      say: String(index).padEnd(TURN_BYTES, ' thinking'),
      tools: [{ name: 'list_files', arguments: {} }],
    }));
    const runId = await begin(assay, {
      models: [
        script([
          bash(`head -c ${RESULT_BYTES} /dev/zero | tr '\\0' x > big`),
          { tools: [{ name: 'read_file', arguments: { path: 'big' } }] },
          ...turns,
          { say: '1' },
        ]),
      ],
      suite: sums(1),
      harness: { kind: 'agent', tools: ['bash', 'read_file', 'list_files'], maxSteps: TURNS + 1 },
      environment: 'host',
    });
    await assay.result(runId);
    const [cell] = await loadCells(assay, runId);
    expect(cell).toMatchObject({ outcome: 'scored', answer_preview: '1' });

    const { rows } = await assay.db.query<{ bytes: number }>(
      `select sum(octet_length(b.bytes))::int as bytes from tool_calls c join blobs b on b.digest = c.output_digest
       where c.run_id = $1 and c.tool = 'read_file'`,
      [runId],
    );
    expect(rows[0]?.bytes).toBeGreaterThanOrEqual(RESULT_BYTES);
    const histories = await loadHistories(assay, `run/${runId}/sums/agent/sum-1/a1`);
    const events = histories.reduce((sum, history) => sum + history.events, 0);
    const bytes = histories.reduce((sum, history) => sum + history.bytes, 0);
    expect(events).toBeGreaterThan(TURNS * 10);
    expect(bytes).toBeLessThan((TURNS / 100) * 1_000_000);
  },
);
