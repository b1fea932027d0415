import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { NetworkPolicy } from '../../src/domain/network-policy.ts';
import type {
  EnvironmentProvider,
  EnvironmentSession,
  OpenRequest,
} from '../../src/environments/environment.ts';
import { run } from './test-session.ts';

/** A session that ends with its test, and who opened it. */
export type OpenForTest = (
  request: Partial<OpenRequest>,
) => Promise<{ readonly session: EnvironmentSession; readonly provider: EnvironmentProvider }>;

const ask = (port: number): string =>
  `(exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3) 2>&1`;

async function startServer(): Promise<number> {
  const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

/** Servers of the worker that a session's commands are given, whatever their policy. */
export function testServed(policies: readonly NetworkPolicy[], open: OpenForTest): void {
  test.each(policies)('with network $mode a server of the worker is reached on loopback', async (network) => {
    const { session, provider } = await open({ network });
    const served = createServer((_, response) => response.end('served'));
    const { port } = await session.listen(served);
    expect((await run(session, ask(port))).output).toMatch(/200 OK[^]*served/);
    await provider.close(session.handle);
    expect(served.listening).toBe(false);
  });

  test.each(policies.filter(({ mode }) => mode !== 'public'))(
    'with network $mode a server of the worker is all that is reached',
    async (network) => {
      const other = await startServer();
      const { session } = await open({ network });
      await session.listen(createServer());
      expect((await run(session, ask(other))).output).toMatch(/refused/);
      const away = '(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1; timeout 2 getent hosts example.com || echo no name';
      expect((await run(session, away)).output).toMatch(/(unreachable|refused)[^]*no name\n/);
    },
  );

  test('two servers of one session, and one that is closed alone, do not disturb each other', async () => {
    const { session } = await open({ network: policies[0] ?? { mode: 'public' } });
    const [one, other] = [createServer((_, to) => to.end('one')), createServer((_, to) => to.end('two'))];
    const first = await session.listen(one);
    const second = await session.listen(other);
    expect((await run(session, ask(first.port))).output).toContain('one');
    await new Promise((resolve) => one.close(resolve));
    expect((await run(session, ask(first.port))).output).toMatch(/refused/);
    expect((await run(session, ask(second.port))).output).toContain('two');
  });
}
