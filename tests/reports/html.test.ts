import { expect, test } from 'vitest';
import { formatHtml } from '../../src/reports/html.ts';
import { markup } from '../../src/reports/markup.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCrowdedRun } from './crowded-run.ts';
import { buildCell, buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const crowded = buildCrowdedRun();
const page = formatHtml({ rows: crowded, report: summarize(crowded), details: [] });

test('AA-14 a page of a run with everything at once says what the other forms say', () => {
  for (const text of [
    'Stopped by its budget',
    'coverage 0.25 is below; the gate minCoverage is 0.95',
    'connection refused at 127.0.0.1:8080: is the server up?',
    'no data: environment variable GHOST_API_KEY is not set',
    'ranks compare the 9 cases that all 5 ranked models have, of up to 12',
    '<td>1=</td><th scope="row">openai:gpt-5-mini</th>',
    '<th scope="row">brittle<small>disqualified</small></th>',
    'Mean with its 95% interval',
    'Cost of an attempt against the mean',
    'Latency from p50 to p99',
    '<td class="part">1/2</td>',
    '<td class="none">not run</td>',
  ])
    expect(page).toContain(text);
  expect(page.indexOf('id="failures"')).toBeLessThan(page.indexOf('id="board-1"'));
});

test('the page asks for nothing: no script, no address, and a policy that forbids both', () => {
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  expect(page).not.toMatch(/<script|<link|<img|src=|href="(?!#)|url\(/);
});

test('nothing that a model, a case or a file says becomes markup', () => {
  const hostile = `"><script>alert(1)</script><b x='\u202e`;
  const cells = [
    ...buildCells({ modelId: hostile, outcomes: { [hostile]: [ended('error', 'x', hostile)] } }),
    buildCell({ modelId: hostile, caseId: 'b', outcome: scored(1), tags: [hostile] }),
    buildCell({ modelId: hostile, caseId: 'c', outcome: scored(0), answerPreview: hostile }),
  ].map((cell) => ({ ...cell, requestName: hostile }));
  const rows = buildRows({
    models: [buildModel(hostile)],
    run: { name: hostile, warnings: [hostile] },
    request: { name: hostile, suiteName: hostile },
    cells,
  });
  const details = [
    {
      requestName: hostile,
      modelId: hostile,
      caseId: 'c',
      attempt: 1,
      input: hostile,
      expected: hostile,
      transcript: [
        { role: 'assistant', text: hostile, reasoning: null, toolCalls: [] },
        { role: 'tool', toolCallId: '1', toolName: hostile, text: hostile, status: 'success' },
      ],
    },
  ] as const;
  const text = formatHtml({ rows, report: summarize(rows), details });
  expect(text).not.toMatch(/<script|<b |\u202e/);
  expect(text).toContain('&lt;script&gt;');
  expect(markup`<p a="${hostile}">${null}${3}</p>`.html).toMatch(/^<p a="[^"<>]*">3<\/p>$/);
});

test('a failure that was looked at shows what was asked, expected and said, keys hidden', () => {
  const secret = `sk-${'a1B2'.repeat(12)}`;
  const cells = buildCells({ modelId: 'm', outcomes: { a: [scored(0)] } });
  const rows = buildRows({ models: [buildModel('m')], cells });
  const details = [
    {
      requestName: 'tickets',
      modelId: 'm',
      caseId: 'a',
      attempt: 1,
      input: 'What is 6 x 7?',
      expected: '42',
      transcript: [
        {
          role: 'assistant',
          text: `41 ${secret}`,
          reasoning: null,
          toolCalls: [{ id: '1', name: 'bash', arguments: { kind: 'parsed', value: { command: 'bc' } } }],
        },
      ],
    },
  ] as const;
  const text = formatHtml({ rows, report: summarize(rows), details });
  for (const part of [
    'What is 6 x 7?',
    '<pre>42</pre>',
    '<pre>41 ',
    'bash {&quot;command&quot;:&quot;bc&quot;}',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain(secret);
});

test('charts are still SVG for two widths: dear and cheap models on a logarithmic scale, curves from three attempts on', () => {
  const models = ['dear', 'cheap', 'free of price'].map((modelId) => buildModel(modelId));
  const cells = models.flatMap(({ modelId }, index) =>
    ['a', 'b', 'c'].flatMap((caseId) =>
      [1, 2, 3].map((attempt) =>
        buildCell({
          modelId,
          caseId,
          attempt,
          outcome: scored(Number(attempt > index)),
          ...(index === 2 ? { costUsd: null, priced: false } : { costUsd: index === 0 ? 1 : 0.001 }),
        }),
      ),
    ),
  );
  const rows = buildRows({ models, cells, request: { caseCount: 3, attempts: { k: 3, strategy: 'avg' } } });
  const text = formatHtml({ rows, report: summarize(rows), details: [] });
  expect(text.match(/<div class="chart wide" role="img" aria-label="[^"]+"><svg /g)).toHaveLength(4);
  expect(text.match(/<div class="chart narrow"/g)).toHaveLength(4);
  expect(text).toContain('Costs are on a logarithmic scale.');
  expect(text).toContain(
    'Cost of an attempt against the mean: cheap: 0.67 at $0.0010, best choice; dear: 1.00 at $1.00, best choice',
  );
  expect(text).toContain('k=1 33% and 33% n=3, k=2 67% and 0% n=3, k=3 100% and 0% n=3');
});

test('an empty run and a run without failures are pages too', () => {
  const rows = buildRows({ models: [buildModel('m')], cells: [] });
  expect(formatHtml({ rows, report: summarize(rows), details: [] })).toContain(
    'no data: nothing was planned',
  );
  const good = buildRows({
    models: [buildModel('m')],
    cells: buildCells({ modelId: 'm', outcomes: { a: [scored(1)] } }),
  });
  expect(formatHtml({ rows: good, report: summarize(good), details: [] })).not.toContain('id="failures"');
});
