import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { checkPayload, comeBack, fatal, toApplicationFailure } from '../../src/activities/failure.ts';
import { createRedactor } from '../../src/domain/redact.ts';

const SECRET = 'hush-hush-9';
const { redactPatterns: redact } = createRedactor([SECRET]);

/** Everything of a failure that Temporal writes down. */
const listTexts = (error: unknown): string[] => {
  if (!(error instanceof ApplicationFailure)) return [String(error)];
  const { message, stack, type, details, cause } = error;
  const own = [message, stack ?? '', type ?? '', JSON.stringify(details ?? null)];
  return cause === undefined ? own : [...own, ...listTexts(cause)];
};

test('an error leaves without secrets in its message, name, stack, details and causes', () => {
  const innermost = { toString: () => `socket of ${SECRET}` };
  const inner = new TypeError(`docker said ${SECRET}`, { cause: innermost });
  const outer = new Error(`cannot open with ${encodeURIComponent(SECRET)} or sk-proj-0123456789abcdefgh`, {
    cause: ApplicationFailure.create({ message: SECRET, details: [{ [SECRET]: [SECRET] }], cause: inner }),
  });
  outer.name = `Error of ${SECRET}`;
  const failure = toApplicationFailure(outer, redact);
  const texts = listTexts(failure);
  expect(texts).toHaveLength(16);
  expect(texts.filter((text) => text.includes('hush-hush') || text.includes('0123456789'))).toEqual([]);
  expect(texts[0]).toBe('cannot open with [redacted] or [redacted]');
  expect(texts[1]).toContain('failure.test.ts');
  expect(texts.slice(8)).toEqual(expect.arrayContaining(['docker said [redacted]', 'TypeError']));
});

test('what is cut is cleaned before, and a chain of causes that goes round ends', () => {
  const long = new Error(`${'x'.repeat(1_990)}${SECRET}${'y'.repeat(100_000)}`);
  long.cause = long;
  const texts = listTexts(toApplicationFailure(long, redact));
  expect(texts).toHaveLength(40);
  expect(texts.filter((text) => text.includes('hush') || text.length > 8_000)).toEqual([]);
});

test('what our own failures say of retries stays, and a cancellation is let through', () => {
  expect(toApplicationFailure(comeBack(250, `wait for ${SECRET}`), redact)).toMatchObject({
    type: 'ComeBack',
    message: 'wait for [redacted]',
    nextRetryDelay: 250,
    category: 'BENIGN',
    nonRetryable: false,
  });
  expect(toApplicationFailure(fatal('InvalidRun', 'm'.repeat(9_000)), redact)).toMatchObject({
    type: 'InvalidRun',
    message: 'm'.repeat(9_000),
    nonRetryable: true,
  });
  const cancelled = new CancelledFailure('CANCELLED');
  expect(toApplicationFailure(cancelled, redact)).toBe(cancelled);
  expect(toApplicationFailure('just text', redact)).toMatchObject({ type: 'Error', message: 'just text' });
});

test('C29 a result that is too large for a history fails by name, with its size, and is not tried again', () => {
  expect(checkPayload('runTool', { preview: 'short' })).toEqual({ preview: 'short' });
  expect(() => checkPayload('runTool', { text: 'x'.repeat(65_536) })).toThrow(
    expect.objectContaining({
      type: 'PayloadTooLarge',
      nonRetryable: true,
      message: 'runTool returned 65547 bytes; a result may have at most 65536',
    }),
  );
});
