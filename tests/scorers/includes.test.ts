import { expect, test } from 'vitest';
import { judge, score } from './support.ts';

test('finds a target text anywhere, without regard to case unless told otherwise', async () => {
  expect(await judge('includes', { answer: 'It is PARIS.', target: 'Paris' })).toBe(1);
  expect(
    await judge('includes', { answer: 'It is PARIS.', target: 'Paris', options: { ignoreCase: false } }),
  ).toBe(0);
  expect(await judge('includes', { answer: 'Lyon? No.', target: 'Paris' })).toBe(0);
});

test('any of a list is enough, all gives the share that is found', async () => {
  const given = { answer: 'red and green', target: ['red', 'green', 'blue', 'pink'] };
  expect(await judge('includes', given)).toBe(1);
  const all = await score('includes', { ...given, options: { mode: 'all' } });
  expect(all).toMatchObject({ value: 0.5, pass: false, explanation: 'does not include "blue" or "pink"' });
  expect(await score('includes', { ...given, options: { mode: 'all' }, threshold: 0.5 })).toMatchObject({
    pass: true,
  });
});

test('an empty target text judges nothing', async () => {
  expect(await judge('includes', { answer: 'x', target: '' })).toBe('empty_target');
});
