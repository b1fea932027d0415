import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { EnvironmentSession, OpenRequest } from '../../src/environments/environment.ts';
import { run } from './test-session.ts';

/** The test of an allowlist, for every environment that can hold one; `open` gives a session that ends with its test. */
export function testAllowlist(open: (request: Partial<OpenRequest>) => Promise<EnvironmentSession>): void {
  test('AC-N3 an allowlist lets through what it names and nothing else, by the proxy alone', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const session = await open({ network: { mode: 'none' } });
    const ask = (target: string): string =>
      `exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'GET http://${target}/ HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`;
    expect((await run(session, ask(`localhost:${port}`))).output).toMatch(/refused/);
    await session.setNetwork({ mode: 'allowlist', allow: [`localhost:${port}`] });
    expect((await run(session, 'echo $HTTPS_PROXY $NO_PROXY')).output).toBe(
      'http://127.0.0.1:3128 localhost,127.0.0.1,::1\n',
    );
    expect((await run(session, ask(`localhost:${port}`))).output).toMatch(/200 OK[^]*reached/);
    expect((await run(session, ask('localhost:1'))).output).toMatch(/403 Forbidden/);
    expect((await run(session, `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1`)).output).toMatch(/refused/);
    expect((await run(session, 'timeout 2 getent hosts example.com || echo no name')).output).toBe(
      'no name\n',
    );
    await session.setNetwork({ mode: 'allowlist', allow: ['localhost:1'] });
    expect((await run(session, ask(`localhost:${port}`))).output).toMatch(/403 Forbidden/);
    await session.setNetwork({ mode: 'none' });
    expect((await run(session, ask(`localhost:${port}`))).output).toMatch(/refused/);
    expect((await run(session, 'echo "[$HTTPS_PROXY]"')).output).toBe('[]\n');
  });
}
