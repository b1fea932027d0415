import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SessionLostError } from '../../src/environments/environment.ts';
import { listProcesses } from '../../src/environments/process-table.ts';
import { isRunning, makeHost, openSession, run } from './test-session.ts';

const readPid = async (root: string, name: string): Promise<number> =>
  Number((await readFile(join(root, 'work', name), 'utf8')).trim());

test('a command gives its exit code and both outputs in order', async () => {
  const session = await openSession();
  const result = await run(session, 'echo one; echo two >&2; echo three; exit 3');
  expect(result).toMatchObject({ exitCode: 3, signal: null, timedOut: false, spawnError: null });
  expect(result.output).toBe('one\ntwo\nthree\n');
  expect(result.outputBytes).toBe(14);
});

test('a command may open /dev/stdin, /dev/stdout and /dev/stderr', async () => {
  const session = await openSession();
  const result = await run(session, 'cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr', {
    stdin: 'in\n',
  });
  expect(result.output).toBe('in\nout\nerr\n');
});

test('an argument list runs without a shell', async () => {
  const session = await openSession();
  expect((await run(session, ['printf', '%s|', 'a b', '$HOME'])).output).toBe('a b|$HOME|');
});

test('a program that does not exist is a spawn error, in a shell exit code 127', async () => {
  const session = await openSession();
  expect(await run(session, ['no-such-program'])).toMatchObject({ exitCode: null, spawnError: /ENOENT/ });
  expect(await run(session, 'no-such-program')).toMatchObject({ exitCode: 127, spawnError: null });
  expect(await run(session, 'echo > f; ./f')).toMatchObject({ exitCode: 126, spawnError: null });
});

test('arguments that the system refuses are a spawn error', async () => {
  const session = await openSession();
  expect((await run(session, ['echo', 'x'.repeat(3_000_000)])).spawnError).toMatch(/E2BIG/);
  expect((await run(session, 'echo \0')).spawnError).toMatch(/null byte/i);
});

test('C22 AC-S1 AC-S2 a time-out ends the group and returns the output so far', async () => {
  const session = await openSession();
  const result = await run(session, 'echo begun; sleep 1000 & echo $! > pid; sleep 1000', { timeoutMs: 300 });
  expect(result).toMatchObject({ timedOut: true, output: 'begun\n' });
  expect(result.durationMs).toBeGreaterThanOrEqual(300);
  expect(result.durationMs).toBeLessThan(2_500);
  expect(await isRunning(await readPid(session.handle.root, 'pid'))).toBe(false);
});

test('C22 a time-out ends descendants that forked twice and left the session', async () => {
  const session = await openSession();
  const escape = `setsid bash -c '(echo $BASHPID > escaped; exec sleep 1000) &'; setsid --fork sleep 1000; sleep 1000`;
  const result = await run(session, escape, { timeoutMs: 500 });
  expect(result.timedOut).toBe(true);
  expect(await isRunning(await readPid(session.handle.root, 'escaped'))).toBe(false);
});

test('a process that clears its environment is found by its parent', async () => {
  const session = await openSession();
  await run(session, `setsid env -i bash -c 'echo $$ > cleared; sleep 1000; :'; :`, { timeoutMs: 400 });
  expect(await isRunning(await readPid(session.handle.root, 'cleared'))).toBe(false);
});

test('an orphan that cleared its environment is found by its directory when processes end', async () => {
  const session = await openSession();
  await run(session, `setsid --fork env -i bash -c 'echo $$ > orphan; sleep 1000; :'; sleep 0.2`);
  const pid = await readPid(session.handle.root, 'orphan');
  expect(await isRunning(pid)).toBe(true);
  await session.endProcesses();
  expect(await isRunning(pid)).toBe(false);
});

test('a process that ignores SIGTERM is killed after two seconds', async () => {
  const session = await openSession();
  const result = await run(session, `trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done`, {
    timeoutMs: 200,
  });
  expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
  expect(result.durationMs).toBeGreaterThanOrEqual(2_000);
  expect(await isRunning(await readPid(session.handle.root, 'pid'))).toBe(false);
});

test('AC-S1 a command returns when it ends, though a descendant holds its output', async () => {
  const session = await openSession();
  const result = await run(session, 'sleep 1000 & echo $! > pid; echo done');
  expect(result).toMatchObject({ exitCode: 0, output: 'done\n' });
  expect(result.durationMs).toBeLessThan(2_000);
  const pid = await readPid(session.handle.root, 'pid');
  expect(await isRunning(pid)).toBe(true);
  await session.endProcesses();
  expect(await isRunning(pid)).toBe(false);
});

test('a server left running outlives the time-out of a later command and its own log', async () => {
  const session = await openSession();
  await run(session, '(while :; do echo tick; sleep 0.02; done) & echo $! > pid');
  const later = await run(session, 'sleep 1000', { timeoutMs: 200 });
  expect(later.timedOut).toBe(true);
  expect(await isRunning(await readPid(session.handle.root, 'pid'))).toBe(true);
});

test('50 MB of output keep their beginning and end', async () => {
  const session = await openSession(await makeHost({ outputLimitBytes: 2_000 }));
  const result = await run(session, `echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last`);
  expect(result.outputBytes).toBe(50_000_012);
  expect(result.output).toMatch(/^first\nx+\n\[\.\.\. \d+ bytes cut \.\.\.\]\nx+\nlast\n$/);
  expect(result.output.length).toBeLessThan(2_100);
});

test('3 MB of input arrive whole', async () => {
  const session = await openSession();
  expect((await run(session, 'wc -c', { stdin: 'y'.repeat(3_000_000) })).output.trim()).toBe('3000000');
});

test('a command that closes its input early does no harm', async () => {
  const session = await openSession();
  const result = await run(session, 'exec <&-; head -c 1 /dev/null; echo fine', {
    stdin: 'y'.repeat(3_000_000),
  });
  expect(result).toMatchObject({ exitCode: 0, output: 'fine\n' });
});

test('without input a command reads the end at once', async () => {
  const session = await openSession();
  expect(await run(session, 'cat; echo over')).toMatchObject({ exitCode: 0, output: 'over\n' });
});

test('AC-S3 a command sees none of the variables of the worker', async () => {
  process.env['ASSAY_TEST_CANARY'] = 'canary-4711';
  const session = await openSession();
  const result = await run(session, 'env', { variables: { MINE: 'yes' } });
  delete process.env['ASSAY_TEST_CANARY'];
  expect(result.output).not.toContain('canary');
  const ofShell = ['OLDPWD', 'PWD', 'SHLVL', '_'];
  const names = result.output
    .trim()
    .split('\n')
    .map((line) => line.replace(/=.*/, ''));
  expect(new Set(names.filter((name) => !ofShell.includes(name)))).toEqual(
    new Set(['ASSAY_COMMAND', 'ASSAY_SESSION', 'HOME', 'LANG', 'MINE', 'PATH', 'TERM', 'TMPDIR']),
  );
});

test('an abort ends the command and rejects with its reason', async () => {
  const session = await openSession();
  const abort = new AbortController();
  const request = {
    command: 'echo $$ > pid; sleep 1000',
    timeoutMs: 20_000,
    stdin: null,
    cwd: null,
    variables: {},
  };
  const running = session.exec(request, abort.signal);
  setTimeout(() => abort.abort(new Error('cancelled by test')), 300);
  await expect(running).rejects.toThrow('cancelled by test');
  expect(await isRunning(await readPid(session.handle.root, 'pid'))).toBe(false);
  await expect(session.exec(request, abort.signal)).rejects.toThrow('cancelled by test');
});

test('a working directory inside the session is taken, one outside refused', async () => {
  const session = await openSession();
  await run(session, 'mkdir sub');
  expect((await run(session, 'basename "$PWD"', { cwd: 'sub' })).output).toBe('sub\n');
  expect((await run(session, 'pwd', { cwd: '..' })).spawnError).toMatch(/outside the working directory/);
  expect((await run(session, 'pwd', { cwd: 'gone' })).spawnError).toMatch(/does not exist/);
});

test('a command in a session that was closed says that the session is gone', async () => {
  const host = await makeHost();
  const session = await openSession(host);
  await host.close(session.handle);
  await expect(run(session, 'true')).rejects.toBeInstanceOf(SessionLostError);
});

test('commands leave no pipes or input files behind', async () => {
  const session = await openSession();
  await run(session, 'cat', { stdin: 'x' });
  expect(new Set(await readdir(session.handle.root))).toEqual(
    new Set(['grader', 'processes.jsonl', 'session.json', 'tmp', 'work']),
  );
});

test('commands of one session run side by side', async () => {
  const session = await openSession();
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, index) => run(session, `sleep 0.1; echo ${index}`)),
  );
  expect(results.map((result) => result.output.trim())).toEqual(results.map((_, index) => String(index)));
});

test('a command whose launcher was killed is ended and says so; the next one has a new launcher', async () => {
  const session = await openSession();
  const command = run(session, 'echo $$ > pid; exec sleep 1000').catch((error: Error) => error.message);
  await expect.poll(() => readPid(session.handle.root, 'pid').catch(() => 0)).toBeGreaterThan(0);
  const pid = await readPid(session.handle.root, 'pid');
  const launchers = (await listProcesses()).filter(({ parentPid }) => parentPid === process.pid);
  const launcher = launchers.find((one) =>
    readFileSync(`/proc/${one.pid}/cmdline`, 'utf8').includes('launcher-entry'),
  );
  process.kill(launcher?.pid ?? Number.NaN, 'SIGKILL');
  expect(await command).toBe('the process that starts commands was lost');
  expect(await isRunning(pid)).toBe(false);
  expect((await run(session, 'echo again')).output).toBe('again\n');
});
