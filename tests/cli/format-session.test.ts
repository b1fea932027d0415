import { expect, test } from 'vitest';
import { formatSession } from '../../src/cli/format-session.ts';

const session = { tryNumber: 1, purpose: 'task', kind: 'docker', hostId: 'a1', state: 'closed' } as const;

test('a session is shown with the limits as they held, the one above what is reserved included', () => {
  const resources = {
    cpus: 0.5,
    memoryBytes: 64 << 20,
    reservedMemoryBytes: 16 << 20,
    pids: 100,
    diskBytes: 8 << 20,
    by: 'docker',
  };
  expect(formatSession({ ...session, resources })).toBe(
    'try 1, task: docker on host a1, closed; cpus 0.5, memory 64 MiB, of it reserved 16 MiB, pids 100, disk 8 MiB (held by docker)',
  );
});

test('a session without limits says so, and one that never opened says that nobody knows', () => {
  const none = {
    cpus: null,
    memoryBytes: null,
    reservedMemoryBytes: null,
    pids: null,
    diskBytes: null,
    by: null,
  };
  expect(formatSession({ ...session, resources: none })).toContain('closed; no limits');
  expect(formatSession({ ...session, state: 'intent', resources: null })).toBe(
    'try 1, task: docker on host a1, being opened; limits unknown',
  );
});
