import { expect, test } from 'vitest';
import { describeFailure } from '../../src/cli/failure-text.ts';
import { formatMoment, formatDuration, formatUsd, toPrintable } from '../../src/cli/format.ts';
import { ClientError } from '../../src/client/client-error.ts';

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code });

test.each([
  ['ENOSPC', 'disk_full', 'Free some space'],
  ['53100', 'disk_full', 'Free some space'],
  ['EADDRINUSE', 'port_in_use', 'another port'],
  ['EACCES', 'no_access', 'owner'],
  ['ECONNREFUSED', 'unreachable', 'assay doctor'],
])('an error with code %s says what to do', (code, word, advice) => {
  const failure = describeFailure(withCode(code, 'it broke'));
  expect(failure.code).toBe(word);
  expect(failure.message).toContain(advice);
  expect(failure.message).not.toContain('\n');
});

test('an error of Temporal says that Temporal is meant', () => {
  const error = Object.assign(new Error('transport error'), { name: 'TransportError' });
  expect(describeFailure(error)).toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('Temporal'),
  });
});

test('the cause of an error is found through its chain and through an AggregateError', () => {
  const refused = new AggregateError([withCode('ECONNREFUSED', 'connect 127.0.0.1:9')], '');
  expect(describeFailure(new Error('outer', { cause: refused })).code).toBe('unreachable');
});

test('an error made for the user is told as it is', () => {
  expect(describeFailure(new ClientError('Do this.'))).toEqual({
    message: 'Do this.',
    code: 'client',
    problems: null,
  });
});

test('any other error names the switch that shows more, and has no stack trace', () => {
  const { message, code } = describeFailure(new TypeError('x is\n undefined'));
  expect(code).toBe('internal');
  expect(message).toContain('x is undefined');
  expect(message).toContain('ASSAY_DEBUG=1');
  expect(message).not.toContain('    at ');
});

test('figures are short, and text of others cannot move the cursor', () => {
  expect([0, 0.004, 1.5, 1234].map((usd) => formatUsd(usd))).toEqual(['$0', '$0.0040', '$1.50', '$1234']);
  expect([900, 80_000, 7_500_000, 200_000_000].map((ms) => formatDuration(ms))).toEqual([
    '1s',
    '1m 20s',
    '2h 5m',
    '2d 7h',
  ]);
  expect(toPrintable('a\u001B[2Jb\r\nc')).toBe('a\\x1b[2Jb\nc');
  expect(formatMoment('2026-03-01T10:00:00.000Z')).toMatch(
    /^2026-03-01 \d\d:\d\d$|^2026-02-28 \d\d:\d\d$|^2026-03-02 \d\d:\d\d$/,
  );
});
