import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenInNamespace } from './namespace-listener.ts';

/** Servers of this worker that the commands of one session reach on their loopback; gone with the session. */
export class SessionServers {
  readonly #servers = new Set<Server>();

  /** `enter` is the argument list that enters the session's network; null = it is this host's. */
  async listen(server: Server, enter: readonly string[] | null): Promise<{ readonly port: number }> {
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
    if (enter === null) await listenHere(server);
    else await listenInNamespace(server, enter, ANY_PORT);
    return { port: (server.address() as AddressInfo).port };
  }

  close(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }
}

/** What a command left behind may sit on any fixed one. */
const ANY_PORT = 0;

const listenHere = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(ANY_PORT, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
