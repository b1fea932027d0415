import { createServer } from 'node:net';

/** A TCP port of the loopback address that nobody listens on at the moment. */
export async function findFreePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === null) throw new Error('no free port on 127.0.0.1');
  return port;
}

/** Whether a TCP port of the loopback address can be listened on. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== null;
}

function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const taken = address !== null && typeof address === 'object' ? address.port : null;
      server.close(() => resolve(taken));
    });
  });
}
