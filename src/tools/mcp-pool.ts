import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpServerSpec } from '../domain/mcp-server.ts';
import { McpConnection } from './mcp-connection.ts';
import { endRecordedServer } from './mcp-stdio.ts';

export type McpPoolOptions = {
  /** Where processes of servers are written down; this host's alone. */
  readonly folder: string;
  readonly path: string;
  readonly readVariable: (name: string) => string | null;
};

export type McpSession = {
  /** The session of an environment, or the try where there is none. */
  readonly sessionId: string;
  /** False = nothing says when it ends: what it has open is closed when nobody uses it. */
  readonly isOpen: boolean;
  /** Asked when a server is started: its working directory; null = one of its own. */
  readonly findDirectory: () => Promise<string | null>;
};

/** Connections of tries that have no session are closed when they have not been used for so long. */
const IDLE_MS = 120_000;

type Held = { readonly connection: Promise<McpConnection>; usedMs: number; readonly hasSession: boolean };

/** The connections of this process to MCP servers: one for each session and server. */
export class McpPool {
  private readonly options: McpPoolOptions;
  private readonly held = new Map<string, Held>();
  private readonly sweep: NodeJS.Timeout;

  constructor(options: McpPoolOptions) {
    this.options = options;
    this.sweep = setInterval(() => void this.closeIdle(), IDLE_MS / 4);
    this.sweep.unref();
  }

  /** The connection of a session to a server, if it is open. */
  async find(sessionId: string, server: string): Promise<McpConnection | null> {
    const connection = await this.held.get(toKey(sessionId, server))?.connection.catch(() => null);
    return connection == null || connection.isOver ? null : connection;
  }

  /** Opened when it is not, or when it has ended. Throws a McpServerError. */
  async open(session: McpSession, spec: McpServerSpec, signal?: AbortSignal): Promise<McpConnection> {
    const key = toKey(session.sessionId, spec.name);
    const held = this.held.get(key);
    const known = await held?.connection.catch(() => null);
    if (held !== undefined && known != null && !known.isOver) {
      held.usedMs = Date.now();
      return known;
    }
    // Somebody else may have opened it meanwhile.
    const current = this.held.get(key);
    if (current !== undefined && current !== held) return await current.connection;
    await known?.close().catch(() => undefined);
    const { folder, path, readVariable } = this.options;
    const connection = session.findDirectory().then((cwd) =>
      McpConnection.open({
        spec,
        folder: join(folder, toFolderName(key)),
        cwd,
        path,
        readVariable,
        ...(signal === undefined ? {} : { signal }),
      }),
    );
    this.held.set(key, { connection, usedMs: Date.now(), hasSession: session.isOpen });
    connection.catch(() => this.held.delete(key));
    return await connection;
  }

  /** Closes what a session has open; what never was is fine. */
  async close(sessionId: string): Promise<void> {
    await this.closeWhere((key) => key.startsWith(toKey(sessionId, '')));
  }

  /** Ends what a former worker of this host left running. */
  async endLeft(): Promise<void> {
    for (const name of await readdir(this.options.folder).catch(() => []))
      await endRecordedServer(join(this.options.folder, name));
  }

  async stop(): Promise<void> {
    clearInterval(this.sweep);
    await this.closeWhere(() => true);
  }

  private async closeIdle(): Promise<void> {
    const before = Date.now() - IDLE_MS;
    await this.closeWhere((_key, { hasSession, usedMs }) => !hasSession && usedMs < before).catch(
      () => undefined,
    );
  }

  private async closeWhere(isMeant: (key: string, held: Held) => boolean): Promise<void> {
    const meant = [...this.held].filter(([key, held]) => isMeant(key, held));
    for (const [key] of meant) this.held.delete(key);
    const closed = await Promise.allSettled(
      meant.map(async ([, { connection }]) => (await connection.catch(() => null))?.close()),
    );
    const failed = closed.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

const toFolderName = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 32);

const toKey = (sessionId: string, server: string): string => `${sessionId}\n${server}`;
