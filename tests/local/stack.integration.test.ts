import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listClients } from '../../src/local/clients.ts';
import { doctor, down } from '../../src/local/commands.ts';
import { endProcess, identifyProcess, isAlive, waitForEnd } from '../../src/local/process-identity.ts';
import { ensureStack, readStackAddresses, repairStack } from '../../src/local/stack.ts';
import type { Stack } from '../../src/local/stack.ts';
import { readStackFile, writeStackFile } from '../../src/local/stack-file.ts';
import { stackStatus, stopIdleStack, stopStack } from '../../src/local/stop-stack.ts';
import { newDataFolder, plainEnvironment, stackOptions } from './stack-options.ts';

const dataDir = newDataFolder();
let stack: Stack;

beforeAll(async () => {
  stack = await ensureStack(stackOptions(dataDir));
});

afterAll(async () => {
  await stopStack(dataDir);
  rmSync(dirname(dataDir), { recursive: true, force: true });
});

test('a stack that runs is left alone', async () => {
  const before = readStackFile(dataDir);
  const again = await ensureStack(stackOptions(dataDir));
  expect(again.databaseUrl).toBe(stack.databaseUrl);
  expect(readStackFile(dataDir)).toEqual(before);
  expect(readStackAddresses(dataDir, plainEnvironment())).toMatchObject({
    temporalAddress: stack.temporalAddress,
  });
});

test('a killed Postgres comes back on its port with its data, the other parts run on', async () => {
  await query('CREATE TABLE kept (word text)');
  await query("INSERT INTO kept VALUES ('here')");
  const before = readStackFile(dataDir);
  await kill('postgres');
  const again = await ensureStack(stackOptions(dataDir));
  expect(again.databaseUrl).toBe(stack.databaseUrl);
  expect(await query('SELECT word FROM kept')).toEqual([{ word: 'here' }]);
  expect(readStackFile(dataDir)).toMatchObject({ temporal: before?.temporal, worker: before?.worker });
});

test('a killed Temporal server comes back on its ports with its workflows', async () => {
  await withTemporal(async (client) => {
    await client.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody' });
  });
  await kill('temporal');
  const again = await ensureStack(stackOptions(dataDir));
  expect(again).toMatchObject({ temporalAddress: stack.temporalAddress, uiUrl: stack.uiUrl });
  await withTemporal(async (client) => {
    expect((await client.workflow.getHandle('kept').describe()).status.name).toBe('RUNNING');
  });
});

test('a killed worker is started again alone', async () => {
  const before = readStackFile(dataDir);
  await kill('worker');
  await ensureStack(stackOptions(dataDir));
  const after = readStackFile(dataDir);
  expect(after).toMatchObject({ postgres: before?.postgres, temporal: before?.temporal });
  expect(isAlive(after?.worker?.process)).toBe(true);
});

test('all parts killed at once come back on their ports', async () => {
  await Promise.all([kill('postgres'), kill('temporal'), kill('worker')]);
  expect(stackStatus(dataDir).parts.every((part) => part.process === null)).toBe(true);
  const again = await ensureStack(stackOptions(dataDir));
  expect(again).toMatchObject({ databaseUrl: stack.databaseUrl, temporalAddress: stack.temporalAddress });
  expect(await query('SELECT word FROM kept')).toEqual([{ word: 'here' }]);
});

test('a watcher starts again what died, and nothing of a stack that was stopped or removed', async () => {
  expect(await repairStack(stackOptions(dataDir))).toBe(false);
  const before = readStackFile(dataDir);
  await kill('postgres');
  expect(await repairStack(stackOptions(dataDir, { workerCommand: null }))).toBe(true);
  expect(readStackFile(dataDir)).toMatchObject({ temporal: before?.temporal, worker: before?.worker });
  expect(await query('SELECT word FROM kept')).toEqual([{ word: 'here' }]);
  expect(await repairStack(stackOptions(join(dataDir, 'removed')))).toBe(false);
});

test('a worker of another version is drained and replaced', async () => {
  const file = readStackFile(dataDir);
  const worker = file?.worker;
  writeStackFile(dataDir, { ...file!, version: '0.0.1', worker: { ...worker!, version: '0.0.1' } });
  await ensureStack(stackOptions(dataDir));
  expect(isAlive(worker?.process)).toBe(false);
  expect(readStackFile(dataDir)).toMatchObject({ postgres: file?.postgres, temporal: file?.temporal });
});

test('a port that another program has taken is given up, with a note', async () => {
  const port = Number(new URL(stack.databaseUrl).port);
  await kill('postgres');
  const intruder = createServer().listen(port, '127.0.0.1');
  const notes: string[] = [];
  const again = await ensureStack(stackOptions(dataDir, { note: (message) => notes.push(message) }));
  expect(notes.join('\n')).toContain(`Port ${port} is in use by another program`);
  stack = again;
  expect(await query('SELECT word FROM kept')).toEqual([{ word: 'here' }]);
  await new Promise((resolve) => intruder.close(resolve));
});

test('a removed stack file does not lead to two servers on one database', async () => {
  const former = readStackFile(dataDir);
  rmSync(join(dataDir, 'stack.json'));
  stack = await ensureStack(stackOptions(dataDir));
  expect(isAlive(former?.postgres?.process)).toBe(false);
  expect(isAlive(former?.temporal?.process)).toBe(false);
  // The former worker sees that the stack is not its own any more.
  expect(await waitForEnd(former!.worker!.process!, 30_000)).toBe(true);
  expect(await query('SELECT word FROM kept')).toEqual([{ word: 'here' }]);
});

test('the lock of a killed command blocks for a few seconds only', async () => {
  await kill('worker');
  mkdirSync(join(dataDir, 'stack.lock'));
  const startedMs = Date.now();
  await ensureStack(stackOptions(dataDir));
  expect(Date.now() - startedMs).toBeLessThan(60_000);
});

test('the doctor finds a running stack well', async () => {
  const describeMigrations = async () => '3 migrations';
  const { data, exitCode } = await doctor({ dataDir, environment: plainEnvironment(), describeMigrations });
  expect(data.checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(data.checks.find(({ name }) => name === 'retention')?.detail).toContain('30 days');
  expect(exitCode).toBe(0);
  expect(JSON.stringify(data)).not.toContain(readFileSync(join(dataDir, 'postgres.password'), 'utf8'));
});

test('the doctor names a part that has died and says what to do', async () => {
  await kill('worker');
  const describeMigrations = async () => '3 migrations';
  const { lines, exitCode } = await doctor({ dataDir, environment: plainEnvironment(), describeMigrations });
  expect(lines.join('\n')).toMatch(/FAIL worker .*it has ended\n.*assay up/);
  expect(exitCode).toBe(1);
});

test('an idle stack is not stopped when a command has come meanwhile', async () => {
  await ensureStack(stackOptions(dataDir));
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  writeFileSync(join(dataDir, 'clients', String(other.pid)), JSON.stringify(identifyProcess(other.pid!)));
  const drained: string[] = [];
  const idle = { dataDir, isStillIdle: async () => true, drain: async () => void drained.push('drained') };
  expect(await stopIdleStack(idle)).toBe(false);
  expect(readStackFile(dataDir)).toMatchObject({ stopping: false });
  other.kill('SIGKILL');
  await new Promise((resolve) => other.once('exit', resolve));
  expect(listClients(dataDir)).toEqual([]);
  expect(drained).toEqual([]);
});

test('stopping ends every part, keeps the ports, and may be said twice', async () => {
  const before = readStackFile(dataDir);
  expect(await stopStack(dataDir)).toEqual(['postgres', 'temporal', 'worker']);
  expect([before?.postgres, before?.temporal, before?.worker].some((part) => isAlive(part?.process))).toBe(
    false,
  );
  expect((await down(dataDir)).lines).toEqual([`Nothing runs in ${dataDir}.`]);
  expect(await repairStack(stackOptions(dataDir))).toBe(false);
  expect(() => readStackAddresses(dataDir, plainEnvironment())).toThrow('assay up');
});

test('a process number that was given to another process is not taken for a part', async () => {
  const file = readStackFile(dataDir);
  const recycled = { pid: process.pid, startTime: '1', bootId: 'another' };
  writeStackFile(dataDir, { ...file!, postgres: { port: file!.postgres!.port, process: recycled } });
  expect(stackStatus(dataDir).parts[0]).toMatchObject({ name: 'postgres', process: null });
});

test('two commands at once start one stack, on the ports that it had', async () => {
  const results = await Promise.all([runEnsure(), runEnsure()]);
  expect(results[0]).toEqual(results[1]);
  expect(results[0]).toMatchObject({
    databaseUrl: stack.databaseUrl,
    temporalAddress: stack.temporalAddress,
  });
});

async function kill(name: 'postgres' | 'temporal' | 'worker'): Promise<void> {
  await endProcess(readStackFile(dataDir)?.[name]?.process, { signal: 'SIGKILL', graceMs: 5000 });
}

async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function withTemporal(use: (client: Client) => Promise<void>): Promise<void> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

function runEnsure(): Promise<unknown> {
  const program = fileURLToPath(new URL('programs/ensure.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`exit code ${code}`)),
    );
  });
}
