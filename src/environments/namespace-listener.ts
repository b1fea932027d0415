import { spawn } from 'node:child_process';
import type { Server } from 'node:http';
import { fileURLToPath } from 'node:url';

/** Where a session's programs find its proxy: on the loopback of their own network. */
export const PROXY_PORT = 3128;

/** `.ts` here, `.js` in the published build. */
const CHILD = fileURLToPath(new URL(`./listen-in-namespace.${import.meta.url.slice(-2)}`, import.meta.url));
const LIMIT_MS = 20_000;

/**
 * Makes `server` listen on 127.0.0.1 of another network namespace. A short-lived child enters the namespace,
 * opens the socket there and hands it over: connections then arrive in this process, which keeps its own
 * network. Nothing but this socket joins the two. `enter` is the argument list that enters, port 0 any free one.
 */
export async function listenInNamespace(
  server: Server,
  enter: readonly string[],
  port: number,
): Promise<void> {
  const [program = '', ...args] = enter;
  const child = spawn(program, [...args, process.execPath, CHILD, String(port)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
  });
  let errorText = '';
  child.stderr?.on('data', (chunk: Buffer) => (errorText += chunk.toString('utf8')));
  const handed = Promise.withResolvers<void>();
  child.once('message', (_message, handle) => {
    server.once('error', handed.reject);
    server.listen(handle as never, () => handed.resolve());
  });
  child.once('error', handed.reject);
  child.once('exit', () => setTimeout(() => handed.reject(new Error(errorText.trim() || 'it ended')), 100));
  const timer = setTimeout(() => handed.reject(new Error('no answer')), LIMIT_MS);
  try {
    await handed.promise;
  } catch (error) {
    throw new Error(`The proxy of a session cannot listen in its network: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

/** What tells programs about the proxy; most read one spelling or the other. */
export function toProxyVariables(): { readonly [name: string]: string } {
  const url = `http://127.0.0.1:${PROXY_PORT}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  const none = 'localhost,127.0.0.1,::1';
  return { ...Object.fromEntries(names.map((name) => [name, url])), NO_PROXY: none, no_proxy: none };
}
