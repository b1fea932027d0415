import { LRUCache } from 'lru-cache';
import { loadBlob, saveBlob } from '../store/blobs.ts';
import type { Db } from '../store/pool.ts';

const MAX_BYTES = 32 * 1024 * 1024;

/** What an entry costs beside its bytes. */
const ENTRY_BYTES = 500;

/** Blobs that this process wrote or read a moment ago; content addresses never go stale. */
export class BlobCache {
  private readonly db: Db;
  private readonly cache = new LRUCache<string, Uint8Array>({
    maxSize: MAX_BYTES,
    sizeCalculation: (bytes) => bytes.byteLength + ENTRY_BYTES,
  });

  constructor(db: Db) {
    this.db = db;
  }

  /** Remembers what is being stored by another statement. */
  remember(digest: string, bytes: Uint8Array): void {
    if (bytes.byteLength < MAX_BYTES / 8) this.cache.set(digest, toOwn(bytes));
  }

  async load(digest: string): Promise<Uint8Array> {
    const cached = this.cache.get(digest);
    if (cached !== undefined) return cached;
    const bytes = await loadBlob(this.db, digest);
    this.remember(digest, bytes);
    return bytes;
  }

  async loadJson(digest: string): Promise<unknown> {
    return JSON.parse(new TextDecoder().decode(await this.load(digest)));
  }

  async saveJson(value: unknown): Promise<string> {
    const bytes = Buffer.from(JSON.stringify(value));
    const digest = await saveBlob(this.db, bytes);
    this.remember(digest, bytes);
    return digest;
  }
}

/** Small values lie in a block that they share with others, or with all that came over a socket: it would be kept. */
const toOwn = (bytes: Uint8Array): Uint8Array =>
  bytes.buffer.byteLength === bytes.byteLength ? bytes : new Uint8Array(bytes);
