/** A line of more bytes is no report of anything; it is passed over. */
const LONGEST_LINE_BYTES = 4 * 1024 * 1024;

/** Takes a text apart into lines as it comes, in bounded memory. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #tooLong = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#hold(chunk.subarray(from, at));
      this.#finish();
      from = at + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  end(): void {
    if (this.#heldBytes > 0 || this.#tooLong) this.#finish();
  }

  #hold(part: Uint8Array): void {
    this.#heldBytes += part.length;
    this.#tooLong ||= this.#heldBytes > LONGEST_LINE_BYTES;
    if (this.#tooLong) this.#held = [];
    // A copy: the chunk may be a view on a buffer that is used again.
    else if (part.length > 0) this.#held.push(Uint8Array.from(part));
  }

  #finish(): void {
    if (!this.#tooLong) this.#onLine(Buffer.concat(this.#held).toString('utf8').replace(/\r$/, ''));
    this.#held = [];
    this.#heldBytes = 0;
    this.#tooLong = false;
  }
}

const NEWLINE = 10;
