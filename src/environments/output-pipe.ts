import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { mkdir, unlink } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Both ends of a pipe: a child gets `writerFd` as its stdout and stderr, so that lines stay in order. */
export type OutputPipe = { readonly reader: Socket; readonly writerFd: number };

const runFile = promisify(execFile);

/** Pipes made by one start of `mkfifo`. */
const BATCH = 8;

/**
 * Real pipes for output. What Node makes by itself are sockets, through which a command cannot open
 * `/dev/stdout` or `/dev/stderr`; named pipes, opened and unlinked at once, can be opened.
 */
export class OutputPipes {
  readonly #directory: string;
  readonly #ready: string[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  async open(): Promise<OutputPipe> {
    const ready = this.#ready.pop();
    const path = ready !== undefined && existsSync(ready) ? ready : await this.#make();
    const readerFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const writerFd = openSync(path, constants.O_WRONLY);
      const reader = new Socket({ fd: readerFd, readable: true, writable: false });
      return { reader, writerFd };
    } catch (error) {
      closeSync(readerFd);
      throw error;
    } finally {
      await unlink(path).catch(() => undefined);
    }
  }

  async #make(): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const paths = Array.from({ length: BATCH }, () => join(this.#directory, `output-${randomUUID()}`));
    await runFile('mkfifo', ['-m', '600', ...paths], { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' } });
    const [first, ...rest] = paths;
    this.#ready.push(...rest);
    return first ?? '';
  }
}
