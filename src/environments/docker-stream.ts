import { Transform, type TransformCallback } from 'node:stream';

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes apart what an engine sends of a command: frames of 8 bytes (1 = stdout, 2 = stderr; bytes 4 to 7 are
 * the length) and their content, as the Docker API's "attach" describes it. Passes on stdout; gives stderr to
 * `onError`. Holds one piece of one frame at a time.
 */
export class FrameReader extends Transform {
  readonly #onError: (chunk: Buffer) => void;
  #header: Buffer = Buffer.alloc(0);
  #kind = 0;
  #left = 0;

  constructor(onError: (chunk: Buffer) => void) {
    super();
    this.#onError = onError;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#left > 0 ? this.#takeContent(rest) : this.#takeHeader(rest);
    done();
  }

  #takeContent(chunk: Buffer): Buffer {
    const content = chunk.subarray(0, this.#left);
    this.#left -= content.length;
    if (this.#kind === STDERR) this.#onError(content);
    else this.push(content);
    return chunk.subarray(content.length);
  }

  #takeHeader(chunk: Buffer): Buffer {
    const missing = HEADER_BYTES - this.#header.length;
    this.#header = Buffer.concat([this.#header, chunk.subarray(0, missing)]);
    if (this.#header.length === HEADER_BYTES) {
      this.#kind = this.#header[0] ?? 0;
      this.#left = this.#header.readUInt32BE(4);
      this.#header = Buffer.alloc(0);
    }
    return chunk.subarray(missing);
  }
}
