import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendJson, startHttpServer } from '../providers/http-server.ts';
import { ANTHROPIC } from '../providers/contract/anthropic-form.ts';
import { GOOGLE } from '../providers/contract/google-form.ts';
import { OPENAI_RESPONSES } from '../providers/contract/responses-form.ts';
import type { Said, WireForm } from '../providers/contract/wire-form.ts';
import { sendWireEvents, speak } from '../providers/contract/wire-server.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, loadCalls, loadCells, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const look = (thought: string, command: string): Said => ({
  thought,
  text: 'I look.',
  tools: [{ name: 'bash', arguments: JSON.stringify({ command }) }],
  counts: { input: 20, output: 8, cacheRead: 10, reasoning: 0 },
});

const TURNS: readonly Said[] = [look('First.', 'echo one'), look('Then.', 'echo two'), { text: '1' }];

/** Two turns with a tool, then the answer; the first request meets an overload in the middle of its stream. */
const serve = (form: WireForm) =>
  startHttpServer((response, seen, number) => {
    if (seen.method === 'GET') return sendJson(response, { data: [] });
    const posts = number - 1;
    if (posts === 1) {
      sendWireEvents(response, [...form.toEvents(TURNS[0]!).slice(0, 2), form.overload.event]);
      response.end();
      return;
    }
    return speak(form, 'streamed', TURNS[Math.min(posts - 2, 2)]!)(response, seen, number);
  });

test.each([
  ['anthropic', ANTHROPIC, 'EqQBCg-signature-1'],
  ['openai', OPENAI_RESPONSES, 'gAAAA-opaque-1'],
  ['google', GOOGLE, 'CikB-signature-1'],
] as const)(
  'F19 an agent on %s goes on over several turns, its thoughts with it',
  async (...[kind, form, mark]) => {
    await using server = await serve(form);
    const runId = await begin(assay, {
      providers: [
        {
          id: 'there',
          kind,
          baseUrl: server.baseUrl,
          apiKeyEnv: null,
          stream: true,
          retry: { max: 2, base: '1ms' },
        },
      ],
      models: [
        {
          id: 'm',
          provider: 'there',
          model: form.model,
          params: form.params,
          price: { input: 1, output: 10, cacheRead: 0.1 },
        },
      ],
      suite: sums(1),
      harness: { kind: 'agent', tools: ['bash'], maxSteps: 5 },
      environment: 'host',
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
    expect(await loadCells(assay, runId)).toMatchObject([
      { outcome: 'scored', score: 1, answer_preview: '1' },
    ]);
    const calls = await loadCalls(assay, runId);
    expect(calls.map(({ step, request_number, state }) => [step, request_number, state])).toEqual([
      [1, 1, 'failed'],
      [1, 2, 'completed'],
      [2, 1, 'completed'],
      [3, 1, 'completed'],
    ]);
    // Ten of twenty tokens came from the cache.
    expect(calls[2]?.cost_usd).toBeCloseTo((10 * 1 + 10 * 0.1 + 8 * 10) / 1e6, 9);
    const last = server.requests.at(-1)!.text;
    expect(last.split(mark)).toHaveLength(3);
    for (const said of ['First.', 'Then.', 'one', 'two']) expect(last).toContain(said);
  },
);
