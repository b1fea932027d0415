import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endProcess, identifyProcess, isAlive } from '../../src/local/process-identity.ts';

test('a running process is alive, one with another start time or boot is not', () => {
  const own = identifyProcess(process.pid)!;
  expect(isAlive(own)).toBe(true);
  expect(isAlive({ ...own, startTime: '1' })).toBe(false);
  expect(isAlive({ ...own, bootId: 'earlier' })).toBe(false);
  expect(isAlive(null)).toBe(false);
});

test('a process that ignores the signal is killed after its grace', async () => {
  const script =
    'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000); console.log("up")';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const identity = identifyProcess(child.pid!)!;
  await endProcess(identity, { signal: 'SIGTERM', graceMs: 100 });
  expect(isAlive(identity)).toBe(false);
  await endProcess(identity, { signal: 'SIGTERM', graceMs: 100 });
});
