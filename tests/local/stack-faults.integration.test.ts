import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { findPostgresBinaries } from '../../src/local/postgres-binaries.ts';
import { postgresAccount } from '../../src/local/postgres-account.ts';
import { openDatabase, startPostgres } from '../../src/local/postgres.ts';
import { endProcess } from '../../src/local/process-identity.ts';
import { ensureStack } from '../../src/local/stack.ts';
import { stopStack } from '../../src/local/stop-stack.ts';
import { newDataFolder, plainEnvironment, stackOptions } from './stack-options.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = newDataFolder();
});

afterEach(async () => {
  await stopStack(dataDir, { drainMs: 1000 });
  rmSync(dirname(dataDir), { recursive: true, force: true });
});

test('services that the user named are used, and no part but the worker is started', async () => {
  const stack = await ensureStack(stackOptions(dataDir, { environment: namedServices() }));
  expect(stack).toMatchObject({
    databaseUrl: inject('databaseUrl'),
    temporalAddress: inject('temporalAddress'),
    uiUrl: null,
  });
  expect(await stopStack(dataDir)).toEqual(['worker']);
});

test('a DATABASE_URL that does not answer is named without its password', async () => {
  const environment = plainEnvironment({ DATABASE_URL: 'postgres://me:hidden-word@127.0.0.1:1/mine' });
  const failure = await failureOf(ensureStack(stackOptions(dataDir, { environment })));
  expect(failure).toMatch(/^Postgres at 127\.0\.0\.1:1\/mine \(DATABASE_URL\) cannot be used: .*unset it/);
  expect(failure).not.toContain('hidden-word');
});

test('a DATABASE_URL that is no address is told without its text', async () => {
  const environment = plainEnvironment({ DATABASE_URL: 'me:hunter2 @localhost' });
  const failure = await failureOf(ensureStack(stackOptions(dataDir, { environment })));
  expect(failure).toMatch(/^DATABASE_URL is no address: expected postgres:\/\/.*unset it/);
  expect(failure).not.toContain('hunter2');
});

test('a TEMPORAL_ADDRESS that does not answer is named', async () => {
  const environment = plainEnvironment({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
  const failure = await failureOf(ensureStack(stackOptions(dataDir, { environment })));
  expect(failure).toMatch(/^Temporal at 127\.0\.0\.1:1, namespace "default".* does not answer: /);
});

test('a worker that ends while it starts is reported with the end of its log', async () => {
  const command = [process.execPath, '-e', 'console.error("no such thing"); process.exit(3)'];
  const options = stackOptions(dataDir, { workerCommand: command, environment: namedServices() });
  expect(await failureOf(ensureStack(options))).toMatch(
    /^The worker ended while it was starting\. .*\nno such thing$/,
  );
});

test('a worker program that does not exist is one clear message', async () => {
  const options = stackOptions(dataDir, {
    workerCommand: ['/nonexistent/assay'],
    environment: namedServices(),
  });
  expect(await failureOf(ensureStack(options))).toMatch(/^The worker could not be started: .*ENOENT/);
});

test('a data folder of another layout is refused', async () => {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'postgres.json'), JSON.stringify({ layout: 99, folder: 'postgres', dataDir }));
  expect(await failureOf(startPostgres({ dataDir, port: null }))).toMatch(
    /has layout 99, this version of Assay reads layout 1/,
  );
});

test('a data folder of another major version of Postgres is refused', async () => {
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '16\n');
  expect(await failureOf(startPostgres({ dataDir, port: null }))).toMatch(
    /made by Postgres 16, .* runs Postgres 18/,
  );
});

test('a data folder that cannot be made is one clear message', async () => {
  const failure = await failureOf(ensureStack(stackOptions('/dev/null/.assay')));
  expect(failure).toMatch(/^The data folder \/dev\/null\/\.assay cannot be written \(.*ENOTDIR/);
});

test('a cluster that was half made by a killed command is made again', async () => {
  mkdirSync(join(dataDir, 'postgres', 'base'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
  const { databaseUrl, process: identity } = await startPostgres({ dataDir, port: null });
  expect(await openDatabase(databaseUrl)).toMatch(/^18\./);
  await endProcess(identity, { signal: 'SIGINT', graceMs: 10_000 });
});

const asRoot = process.getuid?.() === 0 && process.platform === 'linux';

test.skipIf(!asRoot)(
  'a project below a folder that only root may enter keeps its database elsewhere (needs root)',
  async () => {
    const closed = mkdtempSync(join(tmpdir(), 'assay-closed-'));
    const inside = join(closed, '.assay');
    mkdirSync(inside);
    const { databaseUrl, process: identity } = await startPostgres({ dataDir: inside, port: null });
    expect(await openDatabase(databaseUrl)).toMatch(/^18\./);
    await endProcess(identity, { signal: 'SIGINT', graceMs: 10_000 });
    const record = JSON.parse(readFileSync(join(inside, 'postgres.json'), 'utf8')) as { folder: string };
    expect(record.folder).toMatch(/^\/var\/.*postgres-data-/);
    expect(existsSync(join(record.folder, 'PG_VERSION'))).toBe(true);
    rmSync(record.folder, { recursive: true, force: true });
    rmSync(closed, { recursive: true, force: true });
  },
);

test.skipIf(!asRoot)(
  'a disk that is nearly full is one clear message (needs root, to mount a small disk)',
  async (context) => {
    const disk = mkdtempSync(join(tmpdir(), 'assay-disk-'));
    try {
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', disk], {
        encoding: 'utf8',
      });
      if (mounted.status !== 0) context.skip(`no small disk could be mounted: ${mounted.stderr}`);
      expect(await failureOf(ensureStack(stackOptions(join(disk, '.assay'))))).toMatch(
        /^Only \d+ MB are free .* 300 MB are needed/,
      );
      expect(await failureOf(startPostgres({ dataDir: disk, port: null }))).toMatch(
        /^The disk of .* is full/,
      );
    } finally {
      spawnSync('umount', [disk]);
      rmSync(disk, { recursive: true, force: true });
    }
  },
);

test('the programs of Postgres can be reached by the account that runs them', () => {
  expect(existsSync(findPostgresBinaries(postgresAccount()).postgres)).toBe(true);
});

function namedServices(): Record<string, string | undefined> {
  return plainEnvironment({
    DATABASE_URL: inject('databaseUrl'),
    TEMPORAL_ADDRESS: inject('temporalAddress'),
  });
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: 'StackError' });
  return error instanceof Error ? error.message : '';
}
