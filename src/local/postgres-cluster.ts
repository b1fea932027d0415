import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { endProcess, identifyProcess } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { StackError, messageOf } from './stack-error.ts';

/** A cluster on disk and who may use it. */
export type Cluster = {
  readonly folder: string;
  readonly passwordFile: string;
  readonly account: Account | null;
  readonly binaries: PostgresBinaries;
};

/** Makes the cluster with `initdb` when its folder is empty; a half-made one of a killed process is made again. */
export async function ensureCluster(cluster: Cluster): Promise<void> {
  const doneFile = join(cluster.folder, 'assay-cluster-made');
  if (existsSync(doneFile) && existsSync(cluster.passwordFile)) return;
  if (existsSync(doneFile)) {
    throw new StackError(
      `The password of the database in ${cluster.folder} is gone (${cluster.passwordFile}). ` +
        'Put the file back, or move the database folder away to start with an empty one.',
    );
  }
  for (const name of readdirSync(cluster.folder))
    rmSync(join(cluster.folder, name), { recursive: true, force: true });
  const password = randomBytes(24).toString('base64url');
  writeFileSync(cluster.passwordFile, password, { mode: 0o600 });
  await runInitdb(cluster, password);
  writeFileSync(doneFile, '');
}

/** The password of the local database, from its file with mode 0600. */
export function readPassword(passwordFile: string): string {
  return readFileSync(passwordFile, 'utf8').trim();
}

/**
 * Ends a Postgres that still runs on this folder although nobody knows it any more (its stack file was removed), and
 * removes the lock file of a dead one whose number now belongs to another process, which Postgres would respect.
 * Only where the system says in which folder a process works (Linux); elsewhere Postgres itself decides.
 */
export async function clearFormerServer(folder: string): Promise<void> {
  const lockFile = join(folder, 'postmaster.pid');
  if (process.platform !== 'linux' || !existsSync(lockFile)) return;
  const former = identifyProcess(Number.parseInt(readFileSync(lockFile, 'utf8'), 10));
  if (former === null) return;
  if (worksIn(former, folder)) await endProcess(former, { signal: 'SIGINT', graceMs: 20_000 });
  else rmSync(lockFile, { force: true });
}

function worksIn({ pid }: ProcessIdentity, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false;
  }
}

async function runInitdb({ folder, account, binaries }: Cluster, password: string): Promise<void> {
  const secret = `${folder}.secret`;
  writeFileSync(secret, password, { mode: 0o600 });
  if (account !== null) chownSync(secret, account.uid, account.gid);
  const args = ['--pgdata', folder, '--username', 'assay', '--auth', 'scram-sha-256', '--pwfile', secret];
  const locale = [
    '--encoding',
    'UTF8',
    '--locale',
    'C',
    '--locale-provider',
    'builtin',
    '--builtin-locale',
    'C.UTF-8',
  ];
  const owner = account === null ? {} : { uid: account.uid, gid: account.gid };
  try {
    await promisify(execFile)(binaries.initdb, [...args, ...locale], {
      cwd: '/',
      env: postgresEnvironment,
      ...owner,
    });
  } catch (error) {
    throw explainInitdb(error, folder);
  } finally {
    rmSync(secret, { force: true });
  }
}

function explainInitdb(error: unknown, folder: string): StackError {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : messageOf(error);
  if (/no space left/i.test(text)) {
    return new StackError(
      `The disk of ${folder} is full. Free some space (about 100 MB), then run the command again.`,
      { cause: error },
    );
  }
  const lastLine =
    text
      .trim()
      .split('\n')
      .findLast((line) => line.startsWith('initdb:')) ?? messageOf(text);
  return new StackError(`The database folder ${folder} could not be made: ${lastLine}`, { cause: error });
}

/** Nothing of the user's environment reaches Postgres (PGDATA, LC_ALL and others would change what it does). */
export const postgresEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C', TZ: 'UTC' };
