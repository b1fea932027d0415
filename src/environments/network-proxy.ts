import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Admit } from './network-targets.ts';

const CONNECT_LIMIT_MS = 30_000;
/** Headers that are about one hop (RFC 9110, 7.6.1). */
const HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);

/**
 * An HTTP proxy that lets through what is admitted: tunnels by CONNECT, and plain requests in absolute form.
 * Everything else is answered with 403 and a sentence. It listens on nothing by itself.
 */
export class NetworkProxy {
  readonly server: Server;
  readonly #sockets = new Set<Duplex>();
  #admit: Admit;

  constructor(admit: Admit) {
    this.#admit = admit;
    this.server = createServer((request, response) => void this.#forward(request, response));
    this.server.on('connect', (request, socket, head) => void this.#tunnel(request, socket, head));
    this.server.on('connection', (socket) => this.#remember(socket));
    this.server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** From here on; connections of before are cut. */
  allow(admit: Admit): void {
    this.#admit = admit;
    this.#cut();
  }

  async close(): Promise<void> {
    this.#cut();
    if (!this.server.listening) return;
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #remember(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const target = toTarget(`http://${request.url ?? ''}`, 443);
    const address = target === null ? null : await this.#find(target);
    if (target === null || address === null) {
      client.end(
        `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${refusal(request.url)}`,
      );
      return;
    }
    const upstream = this.#connect(address, target.port);
    upstream.once('connect', () => {
      upstream.setTimeout(0);
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.once('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n'));
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = toTarget(request.url ?? '', 80);
    const address = target === null ? null : await this.#find(target);
    if (target === null || address === null) {
      response
        .writeHead(403, { 'content-type': 'text/plain', connection: 'close' })
        .end(refusal(request.url));
      return;
    }
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP.has(name)));
    const { method } = request;
    const options = {
      method,
      headers,
      path: target.path,
      createConnection: () => this.#connect(address, target.port),
    };
    const upstream = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  #connect(address: string, port: number): Socket {
    const socket = connect({ host: address, port });
    socket.setTimeout(
      CONNECT_LIMIT_MS,
      () => socket.connecting && socket.destroy(new Error('connect timed out')),
    );
    this.#remember(socket);
    return socket;
  }

  /** A name that does not resolve is nowhere. */
  #find({ host, port }: Target): Promise<string | null> {
    return this.#admit(host, port).catch(() => null);
  }
}

type Target = { readonly host: string; readonly port: number; readonly path: string };

function toTarget(text: string, defaultPort: number): Target | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname, search } = new URL(text);
  if (protocol !== 'http:' || hostname === '') return null;
  return {
    host: hostname,
    port: port === '' ? portOf(text, defaultPort) : Number(port),
    path: `${pathname}${search}`,
  };
}

/** `URL` drops the port 80 of http. */
const portOf = (text: string, defaultPort: number): number =>
  /^http:\/\/[^/]*:80(?:\/|$)/.test(text) ? 80 : defaultPort;

const refusal = (asked: string | undefined): string =>
  `The network policy of this session does not allow ${asked ?? 'this'}.\n`;
