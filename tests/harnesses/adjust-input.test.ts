import { expect, test } from 'vitest';
import type { NetworkPolicy } from '../../src/domain/network-policy.ts';
import { ALL_PUBLIC } from '../../src/domain/network-policy.ts';
import { NO_LIMITS } from '../../src/domain/resources.ts';
import type { EnvironmentSpec } from '../../src/domain/run.ts';
import { adjustInput } from '../../src/harnesses/adjust-input.ts';
import { buildCase } from '../scorers/support.ts';

const withRun = (run: NetworkPolicy): EnvironmentSpec => ({
  kind: 'bubblewrap',
  variables: {},
  image: null,
  network: { ...ALL_PUBLIC, run },
  resources: NO_LIMITS,
  keepMs: null,
});

const text = (value: string) => buildCase({ input: { kind: 'text', text: value } });

test('AC-A20 a closed network is told with the instruction, once; the case itself stays as it is', () => {
  const testCase = text('Mend it.');
  const told = adjustInput(testCase, withRun({ mode: 'none' }));
  expect(told.input).toEqual({
    kind: 'text',
    text: 'Mend it.\n\nNote: your commands have no network access.',
  });
  // Each request and each try starts from the case.
  expect(adjustInput(testCase, withRun({ mode: 'none' }))).toEqual(told);
  expect(testCase.input).toEqual({ kind: 'text', text: 'Mend it.' });
});

test('an allowlist is told with its targets, in the last message of the user', () => {
  const messages = [
    { role: 'user', text: 'One.' },
    { role: 'assistant', text: 'Yes.' },
    { role: 'user', text: 'Two.' },
  ] as const;
  const { input } = adjustInput(
    buildCase({ input: { kind: 'messages', messages } }),
    withRun({ mode: 'allowlist', allow: ['pypi.org', '*.npmjs.org'] }),
  );
  expect(input.kind === 'messages' && input.messages.map((message) => message.text)).toEqual([
    'One.',
    'Yes.',
    'Two.\n\nNote: the network access of your commands is limited to pypi.org, *.npmjs.org.',
  ]);
});

test('where the network is open, or there is no environment, nothing is told', () => {
  const testCase = text('Mend it.');
  expect(adjustInput(testCase, withRun({ mode: 'public' }))).toBe(testCase);
  expect(adjustInput(testCase, { kind: 'none' })).toBe(testCase);
});
