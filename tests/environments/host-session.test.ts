import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SessionLostError } from '../../src/environments/environment.ts';
import { createHostEnvironment } from '../../src/environments/host.ts';
import { endRecordedProcesses } from '../../src/environments/host-session.ts';
import { readBootId } from '../../src/environments/process-table.ts';
import { reapHostSessions } from '../../src/environments/reaper.ts';
import { testServed } from './served-test.ts';
import { isRunning, makeDirectory, makeHost, openSession, run } from './test-session.ts';

const text = (value: Uint8Array): string => Buffer.from(value).toString('utf8');

test('AC-S4 two sessions have directories of their own', async () => {
  const host = await makeHost();
  const [one, two] = [await openSession(host, 'a/b'), await openSession(host, 'a%b')];
  await one.writeFile('f', Buffer.from('1'));
  expect(await two.listFiles('.')).toEqual([]);
  expect(one.handle.root).not.toBe(two.handle.root);
});

test('AF-16 the name of a session leads nowhere but into a folder of its own', async () => {
  const host = await makeHost();
  const safe = await openSession(host, 'run/1/a1');
  const sly = await openSession(host, '../../sly/../t1');
  expect(dirname(sly.handle.root)).toBe(dirname(safe.handle.root));
});

test('a second open of a session returns it with its files', async () => {
  const host = await makeHost();
  await (await openSession(host)).writeFile('deep/er/f.txt', Buffer.from('x'));
  const again = await host.open({ sessionId: 's/1', variables: {} });
  expect(await again.listFiles('deep')).toEqual(['er/']);
});

test('opens of one session at the same time make one session', async () => {
  const host = await makeHost();
  const sessions = await Promise.all(Array.from({ length: 5 }, () => openSession(host)));
  await sessions[0]?.writeFile('f', Buffer.from('1'));
  for (const session of sessions) expect(await session.listFiles('.')).toEqual(['f']);
});

test('a new worker attaches to a session and keeps its variables', async () => {
  const root = await makeDirectory();
  const before = createHostEnvironment({ root, hostId: 'here', installationId: 'test' });
  const { handle } = await before.open({ sessionId: 's/1', variables: { COLOUR: 'blue' } });
  const after = createHostEnvironment({ root, hostId: 'here', installationId: 'test' });
  onTestFinished(() => after.close(handle));
  const session = await after.attach(handle);
  expect(session === null ? null : (await run(session, 'echo $COLOUR')).output).toBe('blue\n');
  expect(await after.attach({ ...handle, sessionId: 'never' })).toBeNull();
  expect(await after.attach({ ...handle, hostId: 'elsewhere' })).toBeNull();
});

test('AC-A12 close is idempotent and harmless for a session that never was', async () => {
  const host = await makeHost();
  const { handle } = await openSession(host);
  await host.close(handle);
  await host.close(handle);
  await host.close({ ...handle, sessionId: 'never' });
  expect(await host.attach(handle)).toBeNull();
});

test('AC-A12 close removes what a killed open left', async () => {
  const host = await makeHost();
  const { handle } = await openSession(host);
  const name = handle.root.split('/').at(-1) ?? '';
  const root = join(handle.root, '..');
  await mkdir(join(root, `.opening-${name}-x/work`), { recursive: true });
  await host.close(handle);
  expect(await readdir(root)).toEqual([]);
});

test('AC-S2 close ends processes and removes read-only directories', async () => {
  const host = await makeHost();
  const session = await openSession(host);
  const { output } = await run(session, 'mkdir -p a/b; touch a/b/c; chmod 555 a/b a; sleep 1000 & echo $!');
  await host.close(session.handle);
  expect(await isRunning(Number(output))).toBe(false);
  await expect(lstat(session.handle.root)).rejects.toThrow('ENOENT');
});

test('paths cannot leave the session, by dots or by links', async () => {
  const session = await openSession();
  const work = join(session.handle.root, 'work');
  const secret = join(await makeDirectory(), 'secret');
  await writeFile(secret, 'secret');
  await symlink(secret, join(work, 'link'));
  await symlink(join(secret, '..'), join(work, 'folder'));
  await symlink('/nonexistent/new', join(work, 'dangling'));
  const message = /outside the working directory/;
  for (const path of ['../session.json', secret, 'link', 'folder/secret', 'folder/../../session.json']) {
    await expect(session.readFile(path)).rejects.toThrow(message);
  }
  for (const path of ['../x', '/etc/assay-test', 'link', 'folder/new', 'folder/a/b']) {
    await expect(session.writeFile(path, Buffer.from('x'))).rejects.toThrow(message);
  }
  await expect(session.writeFile('dangling', Buffer.from('x'))).rejects.toThrow(/does not exist/);
  await expect(session.listFiles('folder')).rejects.toThrow(message);
  await expect(session.listFiles('..')).rejects.toThrow(message);
  expect(await readFile(secret, 'utf8')).toBe('secret');
});

test('links and absolute paths that stay inside are followed', async () => {
  const session = await openSession();
  await session.writeFile('real/f', Buffer.from('hello'));
  await symlink('real', join(session.handle.root, 'work/alias'));
  expect(text(await session.readFile('alias/f'))).toBe('hello');
  expect(text(await session.readFile(join(session.handle.root, 'work/real/f')))).toBe('hello');
  await session.writeFile('alias/f', Buffer.from('changed'));
  expect(text(await session.readFile('real/f'))).toBe('changed');
});

test('files that cannot be read say why', async () => {
  const session = await openSession();
  await run(session, 'mkdir dir; mkfifo pipe; truncate -s 9M big; touch plain');
  await expect(session.readFile('none')).rejects.toThrow('"none" does not exist.');
  await expect(session.readFile('dir')).rejects.toThrow('"dir" is a directory');
  await expect(session.readFile('pipe')).rejects.toThrow('"pipe" is not a regular file.');
  await expect(session.readFile('big')).rejects.toThrow('"big" has 9437184 bytes; at most 8388608');
  await expect(session.readFile('plain/x')).rejects.toThrow('not a directory');
  await expect(session.writeFile('plain/x', Buffer.from(''))).rejects.toThrow('not a directory');
  await expect(session.writeFile('dir', Buffer.from(''))).rejects.toThrow('is a directory');
  await expect(session.writeFile('pipe', Buffer.from(''))).rejects.toThrow('not a regular file');
  await expect(session.listFiles('plain')).rejects.toThrow('not a directory');
});

test('a copy has files, links, modes and times, and no sockets', async () => {
  const host = await makeHost();
  const session = await openSession(host);
  const work = join(session.handle.root, 'work');
  await run(
    session,
    `mkdir -p a/b; echo hi > a/b/f; chmod 640 a/b/f; ln -s b/f a/l; ln -s /nowhere dead; mkfifo p;
    touch "$(printf 'odd\\377name')"; echo x > shut; chmod 000 shut; chmod 555 a/b; sleep 1000 & echo $! > pid`,
  );
  const server = createServer().listen(join(work, 'socket'));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  await utimes(join(work, 'a/b/f'), 1_000_000, 1_000_000);
  const copy = await host.copy(session, { sessionId: 's/1/grade', variables: {} });
  onTestFinished(() => host.close(copy.handle));
  const target = join(copy.handle.root, 'work');
  expect(await isRunning(Number(text(await session.readFile('pid'))))).toBe(false);
  expect(await copy.listFiles('.')).toEqual(['a/', 'dead', 'odd\uFFFDname', 'pid', 'shut']);
  expect(await readlink(join(target, 'a/l'))).toBe('b/f');
  const state = await lstat(join(target, 'a/b/f'));
  expect([state.mode & 0o777, state.mtimeMs]).toEqual([0o640, 1_000_000_000]);
  expect((await lstat(join(target, 'a/b'))).mode & 0o777).toBe(0o555);
  await copy.writeFile('a/b/f', Buffer.from('other'));
  expect(text(await session.readFile('a/b/f'))).toBe('hi\n');
  const again = await host.copy(session, { sessionId: 's/1/grade', variables: {} });
  expect(text(await again.readFile('a/b/f'))).toBe('hi\n');
});

test('a session that is gone cannot be copied', async () => {
  const host = await makeHost();
  const session = await openSession(host);
  await host.close(session.handle);
  const copying = host.copy(session, { sessionId: 's/1/grade', variables: {} });
  await expect(copying).rejects.toBeInstanceOf(SessionLostError);
  expect(await host.listSessions()).toEqual([]);
});

test('what a dead worker left running is ended by its record', async () => {
  const host = await makeHost();
  const session = await openSession(host);
  const { output } = await run(session, `setsid sleep 1000 & echo $!; env -i sleep 1000 & echo $!`);
  const pids = output.trim().split('\n').map(Number);
  const ended = await endRecordedProcesses({ ...session.handle });
  expect(new Set(ended)).toEqual(new Set(pids));
  for (const pid of pids) expect(await isRunning(pid)).toBe(false);
  expect(await endRecordedProcesses(session.handle)).toEqual([]);
});

test('AC-S5 a command of a worker that was killed with -9 is ended by the next one', async () => {
  const root = await makeDirectory();
  const module = new URL('../../src/environments/host.ts', import.meta.url).href;
  const code = `
    const { createHostEnvironment } = await import(${JSON.stringify(module)});
    const host = createHostEnvironment({ root: ${JSON.stringify(root)}, hostId: 'here', installationId: 'test' });
    const session = await host.open({ sessionId: 's/1', variables: {} });
    const command = 'setsid sleep 1000 & echo $! > inner; echo $$ > outer; sleep 1000';
    await session.exec({ command, timeoutMs: 60000, stdin: null, cwd: null, variables: {} }, new AbortController().signal);
  `;
  const worker = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
  const host = await makeHost({ root });
  const session = await openSession(host);
  const readPid = async (name: string): Promise<number> =>
    Number(await session.readFile(name).then(text, () => '0'));
  await expect.poll(() => readPid('outer'), { timeout: 10_000 }).toBeGreaterThan(0);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  const pids = [await readPid('inner'), await readPid('outer')];
  for (const pid of pids) expect(await isRunning(pid)).toBe(true);
  await endRecordedProcesses(session.handle);
  for (const pid of pids) expect(await isRunning(pid)).toBe(false);
});

test('a process that got the number of a recorded one is left alone', async () => {
  const session = await openSession();
  await run(session, 'true');
  const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void stranger.kill('SIGKILL'));
  const path = join(session.handle.root, 'processes.jsonl');
  const bootId = readBootId();
  const entries = [
    { pid: stranger.pid, startTime: '12', bootId },
    { pid: stranger.pid, startTime: '12', bootId: 'another boot' },
  ];
  await writeFile(path, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n{"pid": 1`);
  expect(await endRecordedProcesses(session.handle)).toEqual([]);
  expect(await isRunning(stranger.pid ?? 0)).toBe(true);
});

test('AC-S5 the reaper removes sessions whose owner has ended, and no others', async () => {
  const root = await makeDirectory();
  const host = await makeHost({ root });
  const [kept, gone] = [await openSession(host, 'kept'), await openSession(host, 'gone')];
  const other = await makeHost({ root, installationId: 'other' });
  const foreign = await openSession(other, 'foreign');
  const { output } = await run(gone, 'sleep 1000 & echo $!');
  const isOpen = (handle: { sessionId: string }): Promise<boolean> =>
    Promise.resolve(handle.sessionId === 'kept');
  const reaped = await reapHostSessions({ environment: host, isOpen });
  expect(reaped.map((handle) => handle.sessionId)).toEqual(['gone']);
  expect(await isRunning(Number(output))).toBe(false);
  expect(await host.attach(kept.handle)).not.toBeNull();
  expect(await other.attach(foreign.handle)).not.toBeNull();
});

test('the reaper removes nothing when an owner cannot be asked', async () => {
  const host = await makeHost();
  await openSession(host, 'a');
  await openSession(host, 'b');
  let asked = 0;
  const isOpen = (): Promise<boolean> =>
    asked++ === 0 ? Promise.resolve(false) : Promise.reject(new Error('Temporal does not answer'));
  await expect(reapHostSessions({ environment: host, isOpen })).rejects.toThrow('Temporal does not answer');
  expect(await host.listSessions()).toHaveLength(2);
});

test('the reaper removes what was cut off while it was made, or lost its record, once it is old', async () => {
  const root = await makeDirectory();
  const host = await makeHost({ root });
  await mkdir(join(root, '.opening-old-1/work'), { recursive: true });
  await mkdir(join(root, '.closing-new-1'));
  await chmod(join(root, '.opening-old-1/work'), 0o500);
  const robbed = await openSession(host);
  await rm(join(robbed.handle.root, 'session.json'));
  const past = new Date(Date.now() - 3_600_000);
  for (const path of [join(root, '.opening-old-1'), robbed.handle.root]) await utimes(path, past, past);
  await reapHostSessions({ environment: host, isOpen: () => Promise.resolve(true) });
  expect(await readdir(root)).toEqual(['.closing-new-1']);
});

testServed([{ mode: 'public' }], async () => {
  const provider = await makeHost();
  return { session: await openSession(provider), provider };
});
