import { expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import type { ToolArguments } from '../../src/domain/transcript.ts';
import { findArgumentErrors, formatArgumentErrors } from '../../src/tools/argument-schema.ts';
import { repairArguments, repairCalls } from '../../src/tools/repair-arguments.ts';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    command: { type: 'string', pattern: '^(a+)+$' },
    timeout_ms: { type: 'integer', minimum: 1 },
    quiet: { type: 'boolean' },
    files: { type: 'array', items: { type: 'string' } },
  },
  required: ['command'],
  additionalProperties: false,
};

const parsed = (value: { readonly [name: string]: Json }): ToolArguments => ({ kind: 'parsed', value });
const written = (text: string): ToolArguments => ({ kind: 'unreadable', text });

test('arguments that fit are left as they are, object and all', () => {
  const given = parsed({ command: 'ls', timeout_ms: 5 });
  expect(repairArguments(schema, given)).toBe(given);
});

test('arguments that were no JSON are read, and what was written is kept', () => {
  const text = "{'command': 'ls', 'timeout_ms': '5',}";
  expect(repairArguments(schema, written(text))).toEqual({
    kind: 'parsed',
    value: { command: 'ls', timeout_ms: 5 },
    writtenAs: text,
  });
  const twice = JSON.stringify({ command: 'ls' });
  expect(repairArguments(schema, written(JSON.stringify(twice)))).toMatchObject({ value: { command: 'ls' } });
});

test.each<[string, { readonly [name: string]: Json }, { readonly [name: string]: Json }]>([
  ['a number as text', { timeout_ms: '5000' }, { timeout_ms: 5000 }],
  ['a truth value as text', { quiet: 'True' }, { quiet: true }],
  ['a list as text', { files: '["a", "b"]' }, { files: ['a', 'b'] }],
  ['numbers where texts are meant', { files: [1, 'b'] }, { files: ['1', 'b'] }],
  ['null for what is left out', { timeout_ms: null, quiet: null }, {}],
])('%s is turned', (_name, given, value) => {
  const repaired = repairArguments(schema, parsed({ command: 'ls', ...given }));
  expect(repaired).toMatchObject({ kind: 'parsed', writtenAs: JSON.stringify({ command: 'ls', ...given }) });
  expect(repaired.kind === 'parsed' && repaired.value).toEqual({ command: 'ls', ...value });
});

test.each<[string, ToolArguments]>([
  ['a required one that is null', parsed({ command: null })],
  ['one too many', parsed({ command: 'ls', colour: 'red' })],
  ['a number that is out of range once it is one', parsed({ command: 'ls', timeout_ms: '0' })],
  ['a word for a number', parsed({ command: 'ls', timeout_ms: 'long' })],
  ['a part of a number', parsed({ command: 'ls', timeout_ms: '1.5' })],
  ['text that was cut off', written('{"command": "rm -rf /tmp/x')],
  ['text that reads but does not fit', written('{command: null}')],
  ['a list', written("['ls']")],
])('%s comes back as it was', (_name, given) => {
  expect(repairArguments(schema, given)).toBe(given);
});

test('what is wrong is said by name; patterns are the tool’s own matter, and so is a schema that is none', () => {
  const errors = findArgumentErrors(schema, { timeout_ms: 'x', colour: 1, files: [{}] });
  expect(formatArgumentErrors(errors)).toBe(
    'command: is missing; colour: there is no such argument; timeout_ms: must be integer; files.0: must be string',
  );
  expect(findArgumentErrors(schema, { command: `${'a'.repeat(64)}!` })).toEqual([]);
  for (const none of [true, null, { type: 'nonsense' }, { $ref: 'https://example.com/far' }])
    expect(findArgumentErrors(none, { anything: 1 })).toEqual([]);
});

test('calls of tools that the model was not offered are left alone', () => {
  const call = (name: string) => ({ id: name, name, arguments: written('{command: "ls"}') });
  const message = {
    role: 'assistant',
    text: '',
    reasoning: null,
    toolCalls: [call('sh'), call('bash')],
  } as const;
  const { toolCalls } = repairCalls(message, [{ name: 'bash', description: '', parameters: schema }]);
  expect(toolCalls.map(({ arguments: given }) => given.kind)).toEqual(['unreadable', 'parsed']);
});
