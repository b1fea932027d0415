import { expect, test } from 'vitest';
import { json } from '../../src/scorers/json.ts';
import { score, judge } from './support.ts';

const code = '```js\nlet a = 1\n```';
const withCode = JSON.stringify({ ok: true, code });
const answers = {
  fenced: 'Here it is.\n```json\n{"ok": true}\n```',
  braces: 'I used {braces} first. {"ok": true}',
  corrected: '{"ok": false}\nCorrection:\n{"ok": true}',
  code: withCode,
  longFence: `\`\`\`\`json\n${withCode}\n\`\`\`\``,
  array: '[{"ok": true}]',
  cut: '{"ok": true',
  twice: '{"ok": true} {"ok": true}',
};

const schema = { type: 'object', required: ['ok'], properties: { ok: { const: true } } };
const rules = [
  { name: 'subset', given: { target: { ok: true } } },
  { name: 'schema', given: { options: { schema } } },
] as const;

test.each(rules)('F07 JSON in prose and fences is found ($name)', async ({ given }) => {
  for (const answer of [answers.fenced, answers.braces, answers.code, answers.longFence]) {
    expect(await score('json', { ...given, answer })).toMatchObject({ value: 1, explanation: 'as expected' });
  }
});

test('F07 text inside the JSON is left as it was', async () => {
  for (const answer of [answers.code, answers.longFence]) {
    expect(await judge('json', { answer, target: { ok: true, code }, options: { mode: 'exact' } })).toBe(1);
  }
});

test.each(rules)(
  'F07 of several JSON values the last counts and the explanation says so ($name)',
  async ({ given }) => {
    for (const answer of [answers.corrected, answers.twice]) {
      const verdict = await score('json', { ...given, answer });
      expect(verdict).toMatchObject({ value: 1 });
      expect(verdict.explanation).toContain('the last of 2 JSON values');
    }
  },
);

test.each(rules)('F07 an array and a cut answer score 0 and say why ($name)', async ({ given }) => {
  expect(await score('json', { ...given, answer: answers.array })).toMatchObject({
    kind: 'scored',
    value: 0,
  });
  const cut = await score('json', { ...given, answer: answers.cut });
  expect(cut).toMatchObject({ kind: 'scored', value: 0, explanation: 'the JSON is cut off before its end' });
});

test('F07 the explanation of an array speaks of an array', async () => {
  const verdict = await score('json', { answer: answers.array, target: { ok: true } });
  expect(verdict.explanation).toBe('$ is an array of 1, expected an object');
});

test('F07 strict judges the answer as it stands', async () => {
  const values = await Promise.all(
    Object.values(answers).map((answer) =>
      judge('json', { answer, target: { ok: true }, options: { strict: true } }),
    ),
  );
  expect(values).toEqual([0, 0, 0, 1, 0, 0, 0, 0]);
});

test.each([
  ['As in {"ok": true} [1].', 1],
  ['The list [see {"ok": true} below]', 1],
  ['```python\nd = {"ok": false}\n```\n{"ok": true}', 1],
  ['```json\n{"ok": true}\n```\nAn empty {} would mean no.', 1],
  ['~~~\n{"ok": true}\n~~~', 1],
  ['{"a": {"ok": true}, oops}', 0],
  ['{"ok": "true"}', 0],
  ['{ok: true}', 0],
  ['{"ok": true, "x": "a\\', 0],
  ['{"ok": tr', 0],
  ['true', 0],
])('answer %j is %d', async (answer, value) => {
  expect(await score('json', { answer, target: { ok: true } })).toMatchObject({ kind: 'scored', value });
});

test('subset counts the leaves that agree, exact refuses further keys', async () => {
  const target = { a: 1, b: { c: [1, 2], d: null } };
  const answer = '{"a": 1, "b": {"c": [1, 3], "d": null, "e": 0}}';
  expect(await score('json', { answer, target })).toMatchObject({
    value: 0.75,
    pass: false,
    explanation: '$.b.c[1] is 3, expected 2',
  });
  expect(await score('json', { answer, target, options: { mode: 'exact' } })).toMatchObject({ value: 0.6 });
  expect(await judge('json', { answer: '{}', target: {} })).toBe(1);
  expect(await judge('json', { answer: '{"x": 1}', target: {}, options: { mode: 'exact' } })).toBe(0);
  expect(await judge('json', { answer: '{}', target: { a: { b: 1, c: 2 } } })).toBe(0);
});

test('a target that is text is read as JSON, a list of targets is any of them', async () => {
  expect(await judge('json', { answer: '{"a": 1}', target: '{"a": 1}' })).toBe(1);
  expect(await judge('json', { answer: '[1, 2]', target: '[1, 2]' })).toBe(1);
  expect(await judge('json', { answer: '{"a": 2}', target: [{ a: 1 }, { a: 2 }] })).toBe(1);
});

test('keys of the prototype are ordinary keys', async () => {
  expect(await judge('json', { answer: '{}', target: { toString: 'x' } })).toBe(0);
  expect(await judge('json', { answer: '{"__proto__": {"a": 1}}', target: '{"__proto__": {"a": 1}}' })).toBe(
    1,
  );
});

test('a bad schema is found when options are checked', () => {
  expect(json.options.safeParse({ schema: { type: 'nonsense' } }).success).toBe(false);
  expect(json.options.safeParse({ mode: 'schema' }).success).toBe(false);
  expect(json.options.safeParse({ schema: { $ref: 'https://example.org/x' } }).success).toBe(false);
  const draft = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    prefixItems: [{ type: 'number' }],
  };
  expect(json.options.safeParse({ schema: draft }).success).toBe(true);
  expect(json.needsTarget({ schema: {} })).toBe(false);
  expect(json.needsTarget({ schema: {}, mode: 'subset' })).toBe(true);
});

test('a catastrophic pattern in a schema is unscored after a second', async () => {
  const options = { schema: { properties: { a: { pattern: '^(a+)+$' } } } };
  const verdict = await score('json', { answer: JSON.stringify({ a: `${'a'.repeat(40)}!` }), options });
  expect(verdict).toMatchObject({ kind: 'unscored', code: 'time_out' });
});

test('hostile answers are read in linear time', async () => {
  const startedAt = performance.now();
  for (const answer of [
    '['.repeat(500_000),
    '{'.repeat(500_000),
    '[['.repeat(200_000) + 'x',
    '{"a":'.repeat(200_000),
  ]) {
    expect(await judge('json', { answer, target: { ok: true } })).toBe(0);
  }
  const long = JSON.stringify({ ok: true, text: 'x"\\'.repeat(700_000) });
  expect(await judge('json', { answer: `So: ${long}`, target: { ok: true } })).toBe(1);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
