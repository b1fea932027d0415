import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, loadCells, script, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const program = readFileSync(join(import.meta.dirname, '../../examples/coding-agent/agent/agent.py'), 'utf8');

const steps: Json[] = [
  { say: 'I look.', tools: [{ name: 'run', arguments: { command: 'echo one > made.txt; cat made.txt' } }] },
  { tools: [{ name: 'write_file', arguments: { path: 'two.txt', content: 'zwei ü\n' } }] },
  { say: '1' },
];

type Parts = { readonly [key: string]: Json };

const request = (name: string, harness: Parts): Parts => ({
  name,
  suite: {
    ...sums(1, { files: { 'agent.py': program } }),
    scorers: ['exact', { kind: 'command', command: 'test "$(cat made.txt two.txt)" = "one\nzwei ü"' }],
  } as Json,
  harness: { kind: 'command', proxy: true, ...harness },
  environment: 'host',
});

const own = (wire: string, stream: string): Parts => ({
  command: ['python3', 'agent.py'],
  prompt: 'stdin',
  variables: {
    AGENT_BASE_URL: wire === 'messages' ? '{{anthropicUrl}}' : '{{openaiUrl}}',
    AGENT_API_KEY: '{{token}}',
    AGENT_MODEL: '{{model}}',
    AGENT_WIRE: wire,
    AGENT_STREAM: stream,
  },
});

/** The program in the place of the real one: it knows its model by the preset's variables alone. */
const stand = (preset: string, variables: string, end: string): Parts => ({
  preset,
  command: [
    'sh',
    '-c',
    `export ${variables} AGENT_MODEL={{model}} AGENT_STREAM=1; said=$(python3 agent.py) && ${end}`,
  ],
});

test('an agent of our own speaks the three wire forms, whole and streamed, and stands in for presets', async () => {
  const wires = ['chat', 'responses', 'messages'];
  const requests = [
    ...wires.flatMap((wire) => ['0', '1'].map((stream) => request(`${wire}-${stream}`, own(wire, stream)))),
    request(
      'claude-code',
      stand(
        'claude-code',
        'AGENT_BASE_URL=$ANTHROPIC_BASE_URL AGENT_API_KEY=$ANTHROPIC_AUTH_TOKEN AGENT_WIRE=messages',
        `echo '{"type":"system"}'; printf '{"type":"result","result":"%s"}\\n' "$said"`,
      ),
    ),
    request('aider', {
      ...stand(
        'aider',
        'AGENT_BASE_URL=$OPENAI_API_BASE AGENT_API_KEY=$OPENAI_API_KEY AGENT_WIRE=chat',
        'test -s {{promptFile}} && echo "$said"',
      ),
    }),
    request(
      'goose',
      stand(
        'goose',
        'AGENT_BASE_URL=$OPENAI_HOST/v1 AGENT_API_KEY=$OPENAI_API_KEY AGENT_WIRE=chat',
        'echo "$said"',
      ),
    ),
  ];
  const model = { ...script(steps), price: { input: 1, output: 1 } };
  const runId = await begin(assay, { models: [model], requests, execution: { seed: 1 } } as Json);
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  expect(cells.map((cell) => [cell.request, cell.outcome, cell.score, cell.reason_code])).toEqual(
    requests.map(({ name }) => [name, 'scored', 1, null]),
  );
  const { cells: rows } = await loadReportRows(assay.db, runId);
  expect(new Set(rows.map(({ calls }) => calls))).toEqual(new Set([3]));
  expect(rows.every(({ usage, costUsd }) => Number(usage.inputTokens) > 0 && Number(costUsd) > 0)).toBe(true);
});
