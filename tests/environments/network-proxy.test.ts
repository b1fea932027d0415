import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { NetworkProxy } from '../../src/environments/network-proxy.ts';
import { createAdmission } from '../../src/environments/network-targets.ts';

let port = 0;
beforeEach(async () => {
  const server = createServer((asked, response) => {
    response.setHeader('x-seen', JSON.stringify(asked.headers));
    asked.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  ({ port } = server.address() as AddressInfo);
});

async function startProxy(allow: readonly string[]): Promise<{ proxy: NetworkProxy; at: number }> {
  const proxy = new NetworkProxy(createAdmission(allow));
  await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => proxy.close());
  return { proxy, at: (proxy.server.address() as AddressInfo).port };
}

/** Sends text over one connection and returns all that comes back. */
const converse = (at: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(at, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });

const post = (at: number, url: string): Promise<{ status: number; body: string; seen: string }> =>
  new Promise((resolve, reject) => {
    const headers = { 'proxy-authorization': 'x', 'x-own': 'kept', host: new URL(url).host };
    const sent = request({ port: at, host: '127.0.0.1', method: 'POST', path: url, headers }, (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, body, seen: String(answer.headers['x-seen']) }),
      );
    });
    sent.on('error', reject).end('hello');
  });

test('a plain request goes through to an allowed host, without the headers of the hop', async () => {
  const { at } = await startProxy([`localhost:${port}`]);
  const { status, body, seen } = await post(at, `http://localhost:${port}/path?q=1`);
  expect({ status, body }).toEqual({ status: 200, body: 'hello' });
  expect(seen).toContain('kept');
  expect(seen).not.toContain('proxy-authorization');
});

test('a tunnel goes through to an allowed address, and is cut when the policy changes', async () => {
  const { at, proxy } = await startProxy(['127.0.0.0/8']);
  const tunnel = `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`;
  const whole = await converse(at, `${tunnel}GET / HTTP/1.0\r\n\r\n`);
  expect(whole).toMatch(/^HTTP\/1.1 200 Connection Established\r\n\r\nHTTP\/1.1 200 OK/);
  const open = converse(at, tunnel);
  setTimeout(() => proxy.allow(createAdmission([])), 100);
  expect(await open).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
});

test('what is not allowed is refused in words: other hosts, ports, names and the proxy itself', async () => {
  const { at } = await startProxy(['example.com', '*.example.org', `10.0.0.0/8`, `localhost:1`]);
  expect((await post(at, `http://localhost:${port}/`)).body).toContain('does not allow http://localhost');
  for (const asked of [
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
    'example.org:443',
    'badexample.com:443',
    'no-such-name.invalid:443',
    '',
  ]) {
    expect(await converse(at, `CONNECT ${asked} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 40[03] /);
  }
  expect(await converse(at, 'GET /direct HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 403 /);
});

test('AC-N7 names, wildcards, addresses and ranges are admitted with their ports only', async () => {
  const admit = createAdmission(['127.0.0.1:80', '*.localhost', 'fd00::/8', 'localhost:443']);
  expect(await admit('127.0.0.1', 80)).toBe('127.0.0.1');
  expect(await admit('127.0.0.1', 81)).toBeNull();
  expect(await admit('localhost', 80)).toBe('127.0.0.1');
  expect(await admit('LOCALHOST.', 443)).not.toBeNull();
  expect(await admit('[fd00::1]', 1)).toBe('fd00::1');
  expect(await admit('fe80::1', 1)).toBeNull();
  // By name and by address, allowed and refused, of each way to say it.
  const byWildcard = createAdmission(['*.localhost']);
  // Not every machine knows the name; that it is looked up says that it may be reached.
  expect(await byWildcard('some.localhost', 80).catch(() => 'looked up')).not.toBeNull();
  expect([await byWildcard('localhost', 80), await byWildcard('some.example', 80)]).toEqual([null, null]);
  const byName = createAdmission(['localhost']);
  expect([await byName('localhost', 1), await byName('127.0.0.1', 1)]).toEqual(['127.0.0.1', null]);
  const byRange = createAdmission(['127.0.0.0/8']);
  expect([await byRange('127.9.9.9', 1), await byRange('128.0.0.1', 1)]).toEqual(['127.9.9.9', null]);
});
