import { createHash } from 'node:crypto';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

/** Size of a row of a blob. */
export const CHUNK_BYTES = 1024 * 1024;

/** A value with its address; `inline` holds the bytes when they fit one chunk. */
export type Blob = { readonly digest: string; readonly bytes: Uint8Array };

/** SHA-256 in lower-case hex. */
export const toDigest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** JSON as stored: `JSON.stringify` escapes lone surrogates, so that its UTF-8 is exact. */
export function toJsonBlob(value: unknown): Blob {
  const bytes = Buffer.from(JSON.stringify(value), 'utf8');
  return { digest: toDigest(bytes), bytes };
}

export const toTextBlob = (text: string): Blob => {
  const bytes = Buffer.from(text, 'utf8');
  return { digest: toDigest(bytes), bytes };
};

/**
 * Stores a value by its SHA-256, in rows of 1 MiB, and returns the digest. Equal content is stored once.
 * Chunk 0, which makes the blob exist, is written last: a save that was cut off leaves nothing half there.
 */
export async function saveBlob(db: Db, bytes: Uint8Array): Promise<string> {
  const digest = toDigest(bytes);
  if (await hasBlob(db, digest)) return digest;
  const chunks = Math.max(1, Math.ceil(bytes.byteLength / CHUNK_BYTES));
  for (let chunk = chunks - 1; chunk >= 0; chunk -= 1) {
    await db.query({
      name: 'save-chunk',
      text: 'insert into blobs (digest, chunk, size_bytes, bytes) values ($1, $2, $3, $4) on conflict do nothing',
      values: [digest, chunk, chunk === 0 ? bytes.byteLength : null, toChunk(bytes, chunk)],
    });
  }
  return digest;
}

/**
 * Makes a value ready for a statement that keeps it in its own round trip: the bytes when they fit one
 * chunk, null after storing the chunks of a larger one.
 */
export async function prepareBlob(db: Db, { bytes }: Blob): Promise<Uint8Array | null> {
  if (bytes.byteLength <= CHUNK_BYTES) return toChunk(bytes, 0);
  await saveBlob(db, bytes);
  return null;
}

/** Whether the whole value is there. */
export async function hasBlob(db: Db, digest: string): Promise<boolean> {
  const rows = await selectRows(db, {
    name: 'has-blob',
    text: 'select 1 from blobs where digest = $1 and chunk = 0',
    values: [digest],
  });
  return rows.length > 0;
}

/** Reads a value. Throws an error that names the digest when it is missing or damaged. */
export async function loadBlob(db: Db, digest: string): Promise<Buffer> {
  const first = await loadChunk(db, digest, 0);
  if (first === undefined) throw new Error(`The store has no blob ${digest}.`);
  const size = first.size ?? 0;
  const whole =
    first.bytes.byteLength === size ? first.bytes : await loadRest(db, digest, { first: first.bytes, size });
  if (toDigest(whole) !== digest) throw new Error(`Blob ${digest} is damaged: its bytes have changed.`);
  return whole;
}

async function loadRest(
  db: Db,
  digest: string,
  { first, size }: { readonly first: Buffer; readonly size: number },
): Promise<Buffer> {
  const whole = Buffer.alloc(size);
  first.copy(whole, 0);
  for (let chunk = 1; chunk * CHUNK_BYTES < size; chunk += 1) {
    const next = await loadChunk(db, digest, chunk);
    if (next === undefined) throw new Error(`Blob ${digest} lacks chunk ${chunk} of its ${size} bytes.`);
    next.bytes.copy(whole, chunk * CHUNK_BYTES);
  }
  return whole;
}

export type Chunk = { readonly size: number | null; readonly bytes: Buffer };

export async function loadChunk(db: Db, digest: string, chunk: number): Promise<Chunk | undefined> {
  const rows = await selectRows<Chunk>(db, {
    name: 'load-chunk',
    text: 'select size_bytes as size, bytes from blobs where digest = $1 and chunk = $2',
    values: [digest, chunk],
  });
  return rows[0];
}

/** A view on the bytes, as the Buffer that `pg` sends in binary. */
const toChunk = (bytes: Uint8Array, chunk: number): Buffer =>
  Buffer.from(
    bytes.buffer,
    bytes.byteOffset + chunk * CHUNK_BYTES,
    Math.min(CHUNK_BYTES, bytes.byteLength - chunk * CHUNK_BYTES),
  );
