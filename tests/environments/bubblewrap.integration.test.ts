import { randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type {
  EnvironmentProvider,
  EnvironmentSession,
  OpenRequest,
} from '../../src/environments/environment.ts';
import { NO_LIMITS, type ResourceLimits } from '../../src/domain/resources.ts';
import { createBubblewrap, describeBubblewrap, makeSessionsFolder } from './bubblewrap-subject.ts';
import { testAllowlist } from './allowlist-test.ts';
import { testServed } from './served-test.ts';
import { countRunning, makeMark } from './marked-processes.ts';
import { makeRootFilesystem } from './root-filesystem.ts';
import { makeDirectory, run } from './test-session.ts';

let root = '';
beforeEach(async () => {
  root = await makeSessionsFolder();
});

const { problem, resources } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: environment bubblewrap: ${problem}`);
const create = (): EnvironmentProvider => createBubblewrap(root);

async function open(more: Partial<OpenRequest> = {}): Promise<EnvironmentSession> {
  const provider = create();
  const session = await provider.open({ sessionId: `s/${randomUUID()}`, variables: {}, ...more });
  onTestFinished(() => provider.close(session.handle));
  return session;
}

const limits = (given: Partial<ResourceLimits>): ResourceLimits => ({ ...NO_LIMITS, ...given });

describe.skipIf(problem !== null)('environment bubblewrap', () => {
  test('homes, data, sockets and passwords of the host are out of reach, and nothing can be written but the session', async () => {
    const session = await open();
    const secret = join(await makeDirectory(), 'secret');
    await writeFile(secret, 'secret');
    const look = `ls -A /home /root /run /mnt 2>&1; cat ${secret} ${root}/*/session.json /etc/shadow 2>&1
    touch /etc/x /usr/x /x /dev/x 2>&1; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status; tr '\\0' '\\n' < /proc/1/environ | grep -c .`;
    const { output } = await run(session, look);
    expect(output).not.toMatch(/^secret|^root:|sessionId/m);
    expect(output.match(/Read-only file system|Permission denied/g)?.length).toBeGreaterThanOrEqual(5);
    expect(output).toMatch(/NoNewPrivs:\s+1\nCapEff:\s+0000000000000000\n/);
    expect((await run(session, 'touch ~/f /tmp/f && whoami')).exitCode).toBe(0);
  });

  test('a network that is cut on a live session is cut for what ran before too', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const session = await open();
    const mark = makeMark();
    const fetch = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
    expect((await run(session, fetch)).output).toContain('reached');
    await run(session, `sleep ${mark} &`);
    await session.setNetwork({ mode: 'none' });
    expect(countRunning(mark)).toBe(0);
    expect((await run(session, fetch)).output).toMatch(/refused/);
    const tries = `for a in 192.0.2.1/80 ::1/${port} 2001:db8::1/80 8.8.8.8/53; do (exec 3<>/dev/tcp/$a) 2>&1; done; getent hosts example.com || echo no name; ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev`;
    const cut = (await run(session, tries)).output;
    expect(cut).toMatch(/unreachable/);
    expect(cut).toContain('no name');
    expect(cut).toMatch(/^1$/m);
    const server2 = `(exec 3<>/dev/tcp/127.0.0.1/1) 2>/dev/null; sleep ${mark} & echo ok`;
    expect((await run(session, server2)).output).toBe('ok\n');
    await session.setNetwork({ mode: 'public' });
    expect(countRunning(mark)).toBe(1);
    expect((await run(session, fetch)).output).toContain('reached');
  });

  const grouped = resources.includes('pids');
  if (!grouped) console.warn('skipped: limits by control groups, which this user cannot make');

  testAllowlist(open);

  testServed(
    [{ mode: 'none' }, { mode: 'allowlist', allow: ['localhost:1'] }, { mode: 'public' }],
    async (more) => {
      const provider = create();
      const sessionId = `s/${randomUUID()}`;
      const session = await provider.open({ sessionId, variables: {}, ...more });
      onTestFinished(() => provider.close(session.handle));
      return { session, provider };
    },
  );

  test.skipIf(!grouped)('a command that takes too much memory is ended and its limit named', async () => {
    const session = await open({ resources: limits({ memoryBytes: 64 << 20 }) });
    const result = await run(session, `x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo survived`);
    expect(result).toMatchObject({ exceeded: 'memory' });
    expect(result.output).not.toContain('survived');
    expect(session.enforced).toMatchObject({
      memoryBytes: 64 << 20,
      by: expect.stringMatching(/control groups/),
    });
    expect((await run(session, 'echo alive')).output).toBe('alive\n');
  });

  test.skipIf(!grouped)('a fork bomb is held, ended at the time-out, and its limit named', async () => {
    const session = await open({ resources: limits({ pids: 60, cpus: 0.5 }) });
    const result = await run(session, 'b() { b | b & }; b; sleep 100', { timeoutMs: 1_500 });
    expect(result).toMatchObject({ timedOut: true, exceeded: 'pids' });
    expect(result.durationMs).toBeLessThan(12_000);
    expect((await run(session, 'ls -d /proc/[0-9]* | wc -l; echo alive')).output).toMatch(
      /^\s*[1-6]\nalive\n$/,
    );
  });

  test('a full disk is an error of the command, and another worker finds the files', async () => {
    const session = await open({ resources: limits({ diskBytes: 8 << 20 }) });
    expect((await run(session, 'head -c 20000000 /dev/zero > big')).output).toMatch(/No space left/);
    expect((await run(session, 'head -c 20000000 /dev/zero > /tmp/big')).output).toMatch(/No space left/);
    await run(session, 'rm big; echo kept > f');
    expect(session.enforced.diskBytes).toBe(8 << 20);
    const attached = await create().attach(session.handle);
    expect(await attached?.listFiles('.')).toEqual(['f']);
    const provider = create();
    const copy = await provider.copy(session, { sessionId: 's/1/grade-1', variables: {} });
    onTestFinished(() => provider.close(copy.handle));
    expect((await run(copy, 'cat f; echo more >> f')).output).toBe('kept\n');
  });

  test('a root directory stands in for the host’s programs', async () => {
    const directory = await makeDirectory();
    makeRootFilesystem(directory);
    await writeFile(join(directory, 'hello'), 'from the root directory');
    const session = await open({ image: directory });
    await session.writeFile('a/b', Buffer.from('x'));
    const { output } = await run(
      session,
      'cat /hello; ls /bin/perl /usr/bin 2>&1; touch /bin/x 2>&1; cat a/b',
    );
    expect(output).toMatch(/^from the root directory[^]*No such file[^]*Read-only[^]*x$/);
    await expect(create().resolveImage('/nowhere')).rejects.toThrow('is no directory of this host');
  });

  test('a sandbox that cannot start says why, and close removes what was begun', async () => {
    const directory = await makeDirectory();
    await writeFile(join(directory, 'only'), '');
    await expect(open({ image: directory })).rejects.toThrow(/The sandbox did not start: .*\/bin\/sh/);
    const [handle] = await create().listSessions();
    if (handle !== undefined) await create().close(handle);
    expect((await readdir(root)).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('a sandbox ends with its worker, and the next one has its files', async () => {
    const module = new URL('../../src/environments/bubblewrap.ts', import.meta.url).href;
    const mark = makeMark();
    const code = `
    const { createBubblewrapEnvironment } = await import(${JSON.stringify(module)});
    const options = { root: ${JSON.stringify(root)}, hostId: 'here', installationId: 'test', path: process.env.PATH };
    const session = await createBubblewrapEnvironment(options).open({ sessionId: 's/1', variables: {} });
    const request = { timeoutMs: 60000, stdin: null, cwd: null, variables: {} };
    await session.exec({ command: 'echo 1 > f; setsid sleep ${mark} &', ...request }, new AbortController().signal);
    process.kill(process.pid, 'SIGKILL');
  `;
    const worker = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(worker.signal).toBe('SIGKILL');
    await expect.poll(() => countRunning(mark)).toBe(0);
    const provider = create();
    const [handle] = await provider.listSessions();
    if (handle === undefined) throw new Error(`no session: ${worker.stderr}`);
    onTestFinished(() => provider.close(handle));
    const session = await provider.attach(handle);
    expect(session === null ? null : (await run(session, 'cat f; echo $HOME')).output).toBe('1\n/work\n');
  });
});
