import { randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { mkdir, unlink } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { makePipes } from './launcher.ts';

/** A named pipe that a command opens by its path: for stdout and stderr, so that lines stay in order. */
export type OutputPipe = {
  readonly reader: Socket;
  readonly path: string;
  /** To be called when the command has it: from then on the pipe ends with its last writer. */
  readonly handOver: () => Promise<void>;
};

/** Pipes made at a time. */
const BATCH = 8;

/**
 * Real pipes for output. What Node makes by itself are sockets, through which a command cannot open
 * `/dev/stdout` or `/dev/stderr`; named pipes, unlinked once the command has them, can be opened.
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
      // Without a writer the reader would be at its end before it began.
      const writerFd = openSync(path, constants.O_WRONLY);
      const reader = new Socket({ fd: readerFd, readable: true, writable: false });
      const handOver = async (): Promise<void> => {
        closeSync(writerFd);
        await unlink(path).catch(() => undefined);
      };
      return { reader, path, handOver };
    } catch (error) {
      closeSync(readerFd);
      throw error;
    }
  }

  async #make(): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const paths = Array.from({ length: BATCH }, () => join(this.#directory, `output-${randomUUID()}`));
    await makePipes(paths);
    const [first, ...rest] = paths;
    this.#ready.push(...rest);
    return first ?? '';
  }
}
