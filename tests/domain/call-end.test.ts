import { expect, test } from 'vitest';
import { toAgentEnd } from '../../src/domain/call-end.ts';
import type { ClassifiedFailure } from '../../src/domain/failure.ts';

const end = (kind: ClassifiedFailure['class'], spentBefore = false, requests = 1) =>
  toAgentEnd({ classified: { class: kind, message: 'it said no', status: null }, spentBefore, requests });

test.each([
  ['credential', 'infra', 'interrupted'],
  ['billing', 'infra', 'interrupted'],
  ['throttled', 'infra', 'interrupted'],
  ['connection', 'infra', 'interrupted'],
  ['server', 'infra', 'interrupted'],
  ['time_out', 'infra', 'interrupted'],
  ['no_evidence', 'infra', 'interrupted'],
  ['bad_answer', 'infra', 'interrupted'],
  ['bad_request', 'error', 'error'],
] as const)(
  'AC-E10 a call that failed for good as %s ends the attempt as %s, after tokens as %s',
  (kind, first, later) => {
    expect(end(kind)).toMatchObject({ kind: 'failed', outcome: first, reason: { code: kind, phase: 'run' } });
    expect(end(kind, true)).toMatchObject({ outcome: later });
  },
);

test('AF-10 a context overflow ends the loop and is graded', () => {
  expect(end('context_overflow', true)).toEqual({
    kind: 'ended',
    limit: { kind: 'context', limit: null, measured: null },
  });
});

test('the message says what came, how often it was asked and what to do', () => {
  expect(end('credential', false, 1)).toMatchObject({
    reason: { message: expect.stringMatching(/^it said no: check the key .*assay resume/) },
  });
  const classified = { class: 'bad_request', message: 'HTTP 404: no message', status: 404 } as const;
  expect(toAgentEnd({ classified, spentBefore: false, requests: 1 })).toMatchObject({
    reason: {
      message: "HTTP 404: no message: check providers[].baseUrl and the model's name, then run again",
    },
  });
  expect(end('server', false, 5)).toMatchObject({
    reason: { message: expect.stringContaining('(after 5 requests)') },
  });
});
