import { closeSync, createReadStream, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { TextReader } from '../harnesses/json-reader.ts';
import { saveBlobStream } from '../store/blob-streams.ts';
import type { Db } from '../store/pool.ts';

export type SavedOutput = {
  /** Null = nothing was printed. */
  readonly outputDigest: string | null;
  readonly outputBytes: number;
  readonly cutBytes: number;
};

/** Of more than this the end alone is kept. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;
/** No secret is longer. */
const OVERLAP = 16 * 1024;
const FLUSH_AT = 256 * 1024;

/**
 * What an external agent prints, in flat memory: a file without a name takes it, which no end of this process leaves
 * behind, and `readers` see its stdout as it comes.
 */
export class AgentOutput implements Disposable {
  readonly #fd: number;
  readonly #readers: readonly TextReader[];
  #kept = 0;
  /** Nothing more is kept but the end. */
  #isFull = false;
  #bytes = 0;
  #tail: Buffer = Buffer.alloc(0);

  constructor(readers: readonly TextReader[]) {
    const path = join(tmpdir(), `assay-output-${randomUUID()}`);
    this.#fd = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    this.#readers = readers;
  }

  /** The last characters of all that was printed. */
  get tail(): string {
    return this.#tail.toString('utf8');
  }

  readonly onOutput = (chunk: Uint8Array): void => {
    this.#add(chunk);
    for (const reader of this.#readers) reader.push(chunk);
  };

  readonly onErrorOutput = (chunk: Uint8Array): void => this.#add(chunk);

  #add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (!this.#isFull) this.#keep(chunk.subarray(0, MOST_KEPT_BYTES - this.#kept));
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  /** A disk without room ends what is kept, and not the worker: this is called by a stream, which nobody catches. */
  #keep(part: Uint8Array): void {
    try {
      for (let at = 0; at < part.length;) {
        const written = writeSync(this.#fd, part, at, part.length - at, this.#kept);
        at += written;
        this.#kept += written;
      }
      this.#isFull = this.#kept >= MOST_KEPT_BYTES;
    } catch {
      this.#isFull = true;
    }
  }

  /** Nothing is printed any more. */
  end(): void {
    for (const reader of this.#readers) reader.end();
  }

  /** Keeps it as a blob, known secrets taken out. */
  async save(db: Db, redact: (text: string) => string): Promise<SavedOutput> {
    const cutBytes = this.#bytes - this.#kept;
    if (this.#bytes === 0) return { outputDigest: null, outputBytes: 0, cutBytes };
    const rest = cutBytes === 0 ? '' : `\n[... ${cutBytes} bytes were not kept; the end: ...]\n${this.tail}`;
    const read = async (): Promise<AsyncIterable<Uint8Array>> => redactStream(this.#read(), { redact, rest });
    const { digest } = await saveBlobStream(db, read, 2 * MOST_KEPT_BYTES);
    return { outputDigest: digest, outputBytes: this.#bytes, cutBytes };
  }

  #read(): AsyncIterable<Buffer> {
    if (this.#kept === 0) return Readable.from([]);
    return createReadStream('', { fd: this.#fd, start: 0, end: this.#kept - 1, autoClose: false });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** A secret that lies across two pieces is found: the end of what was looked at is looked at again. */
async function* redactStream(
  pieces: AsyncIterable<Buffer>,
  { redact, rest }: { readonly redact: (text: string) => string; readonly rest: string },
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const piece of pieces) {
    held += decoder.decode(piece, { stream: true });
    if (held.length < FLUSH_AT) continue;
    held = redact(held);
    yield Buffer.from(held.slice(0, -OVERLAP), 'utf8');
    held = held.slice(-OVERLAP);
  }
  yield Buffer.from(redact(held + decoder.decode() + rest), 'utf8');
}
