import { createHash } from 'node:crypto';
import { CHUNK_BYTES, hasBlob, loadChunk } from './blobs.ts';
import type { Db } from './pool.ts';

/** A value that can be read more than once, piece by piece. */
export type Readable = () => Promise<AsyncIterable<Uint8Array>>;

export type StreamedBlob = { readonly digest: string; readonly bytes: number };

/**
 * Stores a value of any size with flat memory: read once for its digest, and once more for its rows when the store
 * has it not. Throws when it changed in between, and when it has more than `maxBytes`.
 */
export async function saveBlobStream(db: Db, read: Readable, maxBytes: number): Promise<StreamedBlob> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of await read()) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new BlobTooLargeError(`more than ${maxBytes} bytes`);
    hash.update(piece);
  }
  const digest = hash.digest('hex');
  if (await hasBlob(db, digest)) return { digest, bytes };
  const again = createHash('sha256');
  let first: Buffer | null = null;
  let chunk = 0;
  for await (const rows of toChunks(await read())) {
    again.update(rows);
    // Chunk 0 makes the blob exist: it is written last.
    if (chunk === 0) first = rows;
    else await insertChunk(db, { digest, chunk, bytes: rows, size: null });
    chunk += 1;
  }
  if (again.digest('hex') !== digest) throw new Error('the file changed while it was read');
  await insertChunk(db, { digest, chunk: 0, bytes: first ?? Buffer.alloc(0), size: bytes });
  return { digest, bytes };
}

export class BlobTooLargeError extends Error {
  override readonly name = 'BlobTooLargeError';
}

async function* toChunks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.byteLength;) {
      const part = piece.subarray(at, at + CHUNK_BYTES - size);
      held.push(part);
      size += part.byteLength;
      at += part.byteLength;
      if (size < CHUNK_BYTES) continue;
      yield Buffer.concat(held);
      held = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(held);
}

async function insertChunk(
  db: Db,
  row: {
    readonly digest: string;
    readonly chunk: number;
    readonly bytes: Buffer;
    readonly size: number | null;
  },
): Promise<void> {
  await db.query({
    name: 'save-chunk',
    text: 'insert into blobs (digest, chunk, size_bytes, bytes) values ($1, $2, $3, $4) on conflict do nothing',
    values: [row.digest, row.chunk, row.size, row.bytes],
  });
}

/** A stored value piece by piece. Throws an error that names the digest when it is missing or damaged. */
export async function* loadBlobStream(db: Db, digest: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for (let chunk = 0; chunk === 0 || chunk * CHUNK_BYTES < size; chunk += 1) {
    const row = await loadChunk(db, digest, chunk);
    if (row === undefined) throw new Error(`The store has no chunk ${chunk} of blob ${digest}.`);
    if (chunk === 0) size = row.size ?? 0;
    hash.update(row.bytes);
    yield row.bytes;
  }
  if (hash.digest('hex') !== digest) throw new Error(`Blob ${digest} is damaged: its bytes have changed.`);
}
