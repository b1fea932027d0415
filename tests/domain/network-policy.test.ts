import { expect, test } from 'vitest';
import {
  ALL_PUBLIC,
  isNarrower,
  parseNetworkTarget,
  type NetworkPolicy,
} from '../../src/domain/network-policy.ts';
import { namesOfLimits, NO_LIMITS } from '../../src/domain/resources.ts';

test('targets of an allowlist are names, wildcards, addresses and ranges, with a port or without', () => {
  const read = (text: string): string | null => {
    const target = parseNetworkTarget(text);
    return target === null ? null : `${target.kind} ${target.host} ${target.port}`;
  };
  expect(read('API.Example.com')).toBe('name api.example.com null');
  expect(read('localhost:8080')).toBe('name localhost 8080');
  expect(read('*.example.com:443')).toBe('wildcard *.example.com 443');
  expect(read('10.0.0.1:53')).toBe('address 10.0.0.1 53');
  expect(read('10.0.0.0/8')).toBe('range 10.0.0.0/8 null');
  expect(read('10.0.0.0/8:443')).toBe('range 10.0.0.0/8 443');
  expect(read('2001:db8::/32')).toBe('range 2001:db8::/32 null');
  expect(read('[::1]:443')).toBe('address ::1 443');
  for (const bad of [
    '',
    '*',
    'a..b',
    'a/8',
    '10.0.0.0/33',
    '300.0.0.1',
    'x:0',
    'x:70000',
    'http://x',
    'a b',
    '*.*.x',
  ]) {
    expect([bad, read(bad)]).toEqual([bad, null]);
  }
});

test('a policy is narrower when it takes something away', () => {
  const none: NetworkPolicy = { mode: 'none' };
  const list = (...allow: string[]): NetworkPolicy => ({ mode: 'allowlist', allow });
  const open = ALL_PUBLIC.run;
  expect([isNarrower(none, open), isNarrower(list('a'), open), isNarrower(none, list('a'))]).toEqual([
    true,
    true,
    true,
  ]);
  expect([isNarrower(open, none), isNarrower(none, none), isNarrower(list('a'), none)]).toEqual([
    false,
    false,
    false,
  ]);
  expect([isNarrower(list('a'), list('a', 'b')), isNarrower(list('a', 'b'), list('a'))]).toEqual([
    true,
    false,
  ]);
});

test('limits are named when they are asked for', () => {
  expect(namesOfLimits(NO_LIMITS)).toEqual([]);
  expect(namesOfLimits({ ...NO_LIMITS, memoryBytes: 1, pids: 5 })).toEqual(['memory', 'pids']);
});
