import { alignEnd, alignStart } from './utf8-boundaries.ts';

/** Output of a command in bounded memory: its beginning and its end, `keepBytes` of each. */
export class CapturedOutput {
  readonly #keepBytes: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #totalBytes = 0;

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    const room = this.#keepBytes - this.#headBytes;
    const forHead = chunk.subarray(0, room);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const rest = chunk.subarray(forHead.length);
    if (rest.length > 0) this.#addToTail(rest);
  }

  /** UTF-8 text; where the middle is missing, a line says how many bytes. */
  toText(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#totalBytes <= 2 * this.#keepBytes) return Buffer.concat([head, tail]).toString('utf8');
    const kept = tail.subarray(alignStart(tail, Math.max(0, tail.length - this.#keepBytes)));
    const start = head.subarray(0, this.#endOfHead(head));
    const missing = this.#totalBytes - start.length - kept.length;
    return `${start.toString('utf8')}\n[... ${missing} bytes cut ...]\n${kept.toString('utf8')}`;
  }

  /** The bytes after the head are not kept, so a character that it splits is found by its lead byte. */
  #endOfHead(head: Buffer): number {
    const last = alignEnd(head, head.length - 1);
    const lead = head[last] ?? 0;
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return last + length > head.length ? last : head.length;
  }

  #addToTail(chunk: Buffer): void {
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    for (;;) {
      const first = this.#tail[0];
      if (first === undefined || this.#tailBytes - first.length < this.#keepBytes) return;
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }
}
