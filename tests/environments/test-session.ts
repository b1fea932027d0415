import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type {
  EnvironmentProvider,
  EnvironmentSession,
  ExecRequest,
  ExecResult,
} from '../../src/environments/environment.ts';
import { createHostEnvironment } from '../../src/environments/host.ts';
import type { HostOptions } from '../../src/environments/host.ts';
import { findProcess } from '../../src/environments/process-table.ts';

/** A directory that is removed at the end of the test. */
export async function makeDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'assay-test-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

export async function makeHost(options: Partial<HostOptions> = {}): Promise<EnvironmentProvider> {
  const root = options.root ?? join(await makeDirectory(), 'sessions');
  return createHostEnvironment({ root, hostId: 'here', installationId: 'test', ...options });
}

/** An open session that is closed, its processes ended, at the end of the test. */
export async function openSession(
  host?: EnvironmentProvider,
  sessionId = 's/1',
): Promise<EnvironmentSession> {
  const environment = host ?? (await makeHost());
  const session = await environment.open({ sessionId, variables: {} });
  onTestFinished(() => environment.close(session.handle));
  return session;
}

/** Runs a command with limits that a test can wait for. */
export const run = (
  session: EnvironmentSession,
  command: string | readonly string[],
  more: Partial<ExecRequest> = {},
): Promise<ExecResult> =>
  session.exec(
    { command, timeoutMs: 20_000, stdin: null, cwd: null, variables: {}, ...more },
    new AbortController().signal,
  );

/** Whether a process runs; a zombie does not. */
export const isRunning = async (pid: number): Promise<boolean> => (await findProcess(pid)) !== null;
