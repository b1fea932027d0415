import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { NO_LIMITS, type ResourceLimits } from '../../src/domain/resources.ts';
import { createDockerEnvironment } from '../../src/environments/docker.ts';
import type { EnvironmentSession, OpenRequest } from '../../src/environments/environment.ts';
import { findEngineProblem, IMAGE, startEngine, type TestEngine } from './docker-subject.ts';
import { testAllowlist } from './allowlist-test.ts';
import { testServed } from './served-test.ts';
import { countRunning, makeMark } from './marked-processes.ts';
import { makeDirectory, run } from './test-session.ts';

const skip = findEngineProblem();
if (skip !== null) console.warn(`skipped: environment docker: ${skip}`);

describe.skipIf(skip !== null)('environment docker', { timeout: 60_000 }, () => {
  let engine: TestEngine;
  let root = '';
  beforeAll(async () => {
    engine = await startEngine();
  }, 60_000);
  afterAll(() => engine.stop(), 60_000);
  beforeEach(async () => {
    root = await makeDirectory();
  });

  async function open(more: Partial<OpenRequest> = {}): Promise<EnvironmentSession> {
    const provider = engine.create(root);
    const session = await provider.open({
      sessionId: `s/${randomUUID()}`,
      variables: {},
      image: IMAGE,
      ...more,
    });
    onTestFinished(() => provider.close(session.handle));
    return session;
  }
  const limits = (given: Partial<ResourceLimits>): ResourceLimits => ({ ...NO_LIMITS, ...given });

  test('an image is known by its exact name, and one that cannot be had says what to do', async () => {
    const provider = engine.create(root);
    const exact = await provider.resolveImage(IMAGE);
    expect(exact).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await provider.resolveImage(exact)).toBe(exact);
    await expect(provider.resolveImage('127.0.0.1:1/no/such:1')).rejects.toThrow(
      /image "127.0.0.1:1\/no\/such:1" is not on the docker engine and cannot be pulled: .*docker pull/,
    );
    await expect(open({ image: `sha256:${'0'.repeat(64)}` })).rejects.toThrow(
      'load or build it on this host',
    );
    const silent = createDockerEnvironment({
      root,
      socketPath: '/nonexistent.sock',
      hostId: 'h',
      installationId: 'i',
    });
    expect((await silent.describe()).problem).toMatch(/docker does not answer .* DOCKER_HOST/);
    expect((await provider.describe()).problem).toBeNull();
  });

  test('a container carries its owner, has no rights to gain, and its process 1 outlives everything', async () => {
    const session = await open({ labels: { run: 'r-1', attempt: '2' } });
    const { Config, HostConfig } = await engine.docker.getContainer(session.handle.root).inspect();
    expect(Config.Labels).toMatchObject({
      'assay.installation': 'test',
      'assay.session': session.handle.sessionId,
      'assay.run': 'r-1',
      'assay.attempt': '2',
    });
    expect(HostConfig).toMatchObject({
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
    });
    const { output } = await run(
      session,
      'kill -9 1; kill -9 -1; echo alive; grep NoNewPrivs /proc/self/status',
    );
    expect(output).toMatch(/alive\nNoNewPrivs:\s+1\n/);
    for (let count = 0; count < 3; count += 1) await run(session, '(setsid sleep 0.01 &)');
    expect((await run(session, 'sleep 0.1; grep -c Z /proc/[0-9]*/stat | grep -c :1')).output).toBe('0\n');
  });

  test('a network that is cut on a live session reaches nothing, by address, name, IPv6 or gateway, and comes back', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '0.0.0.0');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const session = await open();
    const { NetworkSettings } = await engine.docker.getContainer(session.handle.root).inspect();
    const gateway = NetworkSettings.Networks['assay-test']?.Gateway ?? '';
    const fetch = `exec 3<>/dev/tcp/${gateway}/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
    expect((await run(session, fetch)).output).toContain('reached');
    const mark = makeMark();
    await run(session, `exec 3<>/dev/tcp/${gateway}/${port}; sleep ${mark} &`);
    await session.setNetwork({ mode: 'none' });
    const tries = `for a in ${gateway}/${port} 192.0.2.1/80 8.8.8.8/53 2001:db8::1/80; do (exec 3<>/dev/tcp/$a) 2>&1; done; timeout 2 getent hosts example.com || echo no name; grep -c : /proc/net/dev`;
    const { output } = await run(session, tries);
    expect(output.match(/unreachable|refused|Cannot assign|No route/g)?.length).toBeGreaterThanOrEqual(4);
    expect(output).toMatch(/no name\n1\n$/);
    expect(countRunning(mark)).toBe(1);
    await session.setNetwork({ mode: 'public' });
    expect((await run(session, fetch)).output).toContain('reached');
    const closed = await open({ network: { mode: 'none' } });
    expect((await run(closed, 'grep -c : /proc/net/dev')).output).toBe('1\n');
    await closed.setNetwork({ mode: 'public' });
    expect((await run(closed, fetch)).output).toContain('reached');
  });

  test('names are closed with the network: the engine’s own resolver asks nobody', async () => {
    const { NetworkSettings } = await engine.docker.getContainer((await open()).handle.root).inspect();
    const gateway = NetworkSettings.Networks['assay-test']?.Gateway ?? '';
    const asked: string[] = [];
    const names = createSocket('udp4', (message) => void asked.push(message.toString('latin1')));
    onTestFinished(() => void names.close());
    await new Promise<void>((resolve) => names.bind(53, gateway, resolve));
    const provider = engine.create(root, { resolvers: [gateway] });
    const session = await provider.open({ sessionId: `s/${randomUUID()}`, variables: {}, image: IMAGE });
    onTestFinished(() => provider.close(session.handle));
    await run(session, 'timeout 1 getent hosts one.example.com');
    expect(asked.some((query) => query.includes('one'))).toBe(true);
    await session.setNetwork({ mode: 'none' });
    await run(session, 'timeout 3 getent hosts two.example.com');
    expect(asked.filter((query) => query.includes('two'))).toEqual([]);
  });

  testAllowlist(open);

  testServed(
    [{ mode: 'none' }, { mode: 'allowlist', allow: ['localhost:1'] }, { mode: 'public' }],
    async (more) => {
      const provider = engine.create(root);
      const sessionId = `s/${randomUUID()}`;
      const session = await provider.open({ sessionId, variables: {}, image: IMAGE, ...more });
      onTestFinished(() => provider.close(session.handle));
      return { session, provider };
    },
  );

  test('a command that takes too much memory is ended and its limit named', async () => {
    const session = await open({
      resources: limits({ memoryBytes: 64 << 20, reservedMemoryBytes: 16 << 20, cpus: 0.5 }),
    });
    expect(session.enforced).toMatchObject({
      memoryBytes: 64 << 20,
      reservedMemoryBytes: 16 << 20,
      cpus: 0.5,
    });
    const result = await run(session, `x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo survived`);
    expect(result.output).not.toContain('survived');
    expect(result).toMatchObject({ exceeded: 'memory' });
    expect(await run(session, 'exit 3')).toMatchObject({ exitCode: 3, exceeded: null });
  });

  test('a fork bomb is held, ended at the time-out with the files kept, and its limit named', async () => {
    const session = await open({ resources: limits({ pids: 40 }) });
    const result = await run(session, 'echo 1 > kept; b() { b | b & }; b; sleep 100', { timeoutMs: 1_500 });
    expect(result).toMatchObject({ timedOut: true, exceeded: 'pids' });
    expect(result.durationMs).toBeLessThan(20_000);
    expect((await run(session, 'cat kept; ls -d /proc/[0-9]* | wc -l')).output).toMatch(/^1\n\s*[1-8]\n$/);
  });

  test('a disk of a size is full at that size, and its files are copied for a grader', async () => {
    const session = await open({ resources: limits({ diskBytes: 8 << 20 }) });
    expect((await run(session, 'head -c 20000000 /dev/zero > big')).output).toMatch(/No space left/);
    expect((await run(session, 'touch /x /bin/x')).output).toMatch(/Read-only/);
    await run(session, 'rm big; echo kept > f');
    const provider = engine.create(root);
    const copy = await provider.copy(session, {
      sessionId: `${session.handle.sessionId}/grade-1`,
      variables: {},
    });
    onTestFinished(() => provider.close(copy.handle));
    expect((await run(copy, 'cat f')).output).toBe('kept\n');
  });

  test('C26 a session outlives a crash of the engine with its files, and nothing is left after close', async () => {
    const session = await open();
    const mark = makeMark();
    await run(session, `echo kept > f; sleep ${mark} &`);
    await engine.crash();
    const provider = engine.create(root);
    const attached = await provider.attach(session.handle);
    expect(attached === null ? null : (await run(attached, 'cat f')).output).toBe('kept\n');
    for (const handle of await provider.listSessions()) await provider.close(handle);
    await provider.removeLeftovers();
    expect(countRunning(mark)).toBe(0);
    expect(await engine.docker.listContainers({ all: true })).toEqual([]);
    expect((await engine.docker.listVolumes()).Volumes ?? []).toEqual([]);
    const networks = (await engine.docker.listNetworks()).map(({ Name }) => Name);
    expect(networks.toSorted()).toEqual(['host', 'none']);
  });

  test('a network that the engine has twice serves sessions, and both go with the last one', async () => {
    const provider = engine.create(root);
    const first = await open();
    const listOwn = async () =>
      (await engine.docker.listNetworks()).filter(({ Name }) => Name.startsWith('assay-'));
    const Name = (await listOwn())[0]?.Name ?? '';
    await provider.close(first.handle);
    await provider.removeLeftovers();
    const makes = Array.from({ length: 8 }, () => engine.docker.createNetwork({ Name, Driver: 'bridge' }));
    await Promise.allSettled(makes);
    expect((await listOwn()).length).toBeGreaterThan(1);
    const opened = await Promise.all([open(), open()]);
    for (const session of opened) expect(await run(session, 'echo there')).toMatchObject({ exitCode: 0 });
    expect(await listOwn()).toHaveLength(1);
    for (const session of opened) await provider.close(session.handle);
    await provider.removeLeftovers();
    expect(await listOwn()).toEqual([]);
  });

  test('a session whose container was removed behind its back is told as gone', async () => {
    const session = await open();
    await engine.docker.getContainer(session.handle.root).remove({ force: true });
    await expect(run(session, 'true')).rejects.toThrow('The container of the session is gone.');
    await expect(session.readFile('f')).rejects.toThrow('gone');
    expect(await engine.create(root).attach(session.handle)).toBeNull();
  });
});
