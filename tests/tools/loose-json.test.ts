import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLooseJson } from '../../src/tools/loose-json.ts';

const right = { path: 'a.txt', lines: [1, 2], deep: { on: true, off: null } };

test.each([
  ['a code fence', '```json\n{"path":"a.txt","lines":[1,2],"deep":{"on":true,"off":null}}\n```'],
  ['commas at the end', '{"path":"a.txt","lines":[1,2,],"deep":{"on":true,"off":null,},}'],
  [
    'single quotes and the words of Python',
    `{'path': 'a.txt', 'lines': [1, 2], 'deep': {'on': True, 'off': None}}`,
  ],
  ['names without quotes', '{path: "a.txt", lines: [1, 2], deep: {on: true, off: null}}'],
])('%s', (_name, text) => {
  expect(readLooseJson(text)).toEqual(right);
});

test('line breaks, quotes of the other kind and escapes in texts stay what they are', () => {
  expect(readLooseJson('{"a":"one\ntwo\ttab"}')).toEqual({ a: 'one\ntwo\ttab' });
  expect(readLooseJson(`{'a': 'say "hi"', "b": "it's", 'c': 'it\\'s \\u00e9\\n'}`)).toEqual({
    a: 'say "hi"',
    b: "it's",
    c: "it's é\n",
  });
});

test('what is not certain is not read', () => {
  const uncertain = [
    '',
    'sure: {"a": 1}',
    '{"a": 1} {"b": 2}',
    '{"a" 1}',
    '{,}',
    '{"a": 01}',
    '{"a": NaN}',
    "{\"a\": 'it's'}",
    '{"a": "\\x"}',
    '{"a": [1}',
    '['.repeat(100_000),
  ];
  expect(uncertain.filter((text) => readLooseJson(text) !== undefined)).toEqual([]);
});

test('a name of a prototype is a name like any other', () => {
  const value = readLooseJson('{__proto__: {a: 1}}') as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test('every JSON value is read as it is, and an object that was cut off never', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify({ value });
      expect(readLooseJson(text)).toEqual(JSON.parse(text));
      for (let length = 0; length < text.length; length += 1)
        expect(readLooseJson(text.slice(0, length))).toBeUndefined();
    }),
  );
});
