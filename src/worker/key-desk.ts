import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { isVariableName } from '../config/literal-keys.ts';
import { findFolderFault, toKeySocketPath } from '../client/key-place.ts';
import { keyOfferSchema, type KeyAnswer } from '../client/key-socket.ts';
import type { KnownSecrets } from './known-secrets.ts';

const TIMEOUT_MS = 5_000;

export type KeyDeskOptions = {
  /** Real path of the stack's data folder. */
  readonly dataDir: string;
  readonly secrets: KnownSecrets;
  /** Told after keys came. */
  readonly onKeys: () => Promise<void>;
  readonly logger: Logger;
};

/**
 * Takes keys from commands of this user on this machine, over a socket that nobody else may open (mode 0600 in a
 * folder of mode 0700). Values are kept in memory and named nowhere. A place that cannot be had safely is
 * logged, and the worker works without. Returns the function that closes it.
 */
export async function openKeyDesk(options: KeyDeskOptions): Promise<() => Promise<void>> {
  const path = toKeySocketPath(options.dataDir);
  try {
    const server = createServer({ allowHalfOpen: true }, (socket) => void serve(socket, options));
    await listen(server, path);
    return () => close(server, path);
  } catch (error) {
    options.logger.warn({ path, error: String(error) }, 'commands cannot hand keys to this worker');
    return async () => undefined;
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fault = findFolderFault(path);
  if (fault !== null) throw new Error(fault);
  // Left by a worker that was killed: a stack has one worker.
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', () => undefined);
  server.unref();
  chmodSync(path, 0o600);
}

async function close(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // Made for this stack alone, wherever it lies; another worker of it makes it again.
  await rmdir(dirname(path)).catch(() => undefined);
}

async function serve(socket: Socket, { secrets, onKeys, logger }: KeyDeskOptions): Promise<void> {
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => undefined);
  try {
    const offer = keyOfferSchema.parse(JSON.parse(await text(socket)));
    const taken = Object.entries(offer.keys).filter(([name]) => isVariableName(name));
    for (const [name, value] of taken) secrets.take(name, value);
    if (taken.length > 0) {
      logger.info({ variables: taken.map(([name]) => name) }, 'a command handed keys over');
      await onKeys();
    }
    const answer: KeyAnswer = { missing: offer.ask.filter((name) => secrets.read(name) === null) };
    socket.end(`${JSON.stringify(answer)}\n`);
  } catch {
    // The reason of a fault could quote what was sent.
    logger.warn('a command sent something else than keys');
    socket.destroy();
  }
}
