import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapEnvironment } from '../../src/environments/bubblewrap.ts';
import type { EnvironmentAbilities } from '../../src/domain/environment-abilities.ts';
import type { EnvironmentProvider } from '../../src/environments/environment.ts';
import { makeDirectory } from './test-session.ts';

export const createBubblewrap = (root: string): EnvironmentProvider =>
  createBubblewrapEnvironment({
    root,
    hostId: 'here',
    installationId: 'test',
    path: process.env['PATH'] ?? '',
  });

export const makeSessionsFolder = async (): Promise<string> => join(await makeDirectory(), 'sessions');

/** What this machine lets the environment do, asked before any test. */
export async function describeBubblewrap(): Promise<EnvironmentAbilities> {
  const root = await mkdtemp(join(tmpdir(), 'assay-test-'));
  try {
    return await createBubblewrap(root).describe();
  } finally {
    await rm(root, { recursive: true });
  }
}
