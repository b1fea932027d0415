import type { AttemptKey } from '../domain/ids.ts';
import type { Message } from '../domain/transcript.ts';
import { prepareBlob, toJsonBlob } from './blobs.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

export type Step = { readonly sequence: number; readonly message: Message };

/** Adds messages to a transcript; a sequence that is there already keeps its message. One round trip. */
export async function appendSteps(
  db: Db,
  {
    key,
    tryNumber,
    steps,
  }: { readonly key: AttemptKey; readonly tryNumber: number; readonly steps: readonly Step[] },
): Promise<void> {
  if (steps.length === 0) return;
  const blobs = steps.map(({ message }) => toJsonBlob(message));
  const bytes: (Uint8Array | null)[] = [];
  for (const blob of blobs) bytes.push(await prepareBlob(db, blob));
  await db.query({
    name: 'append-steps',
    text: `with kept as (
        insert into blobs (digest, chunk, size_bytes, bytes)
        select distinct on (digest) digest, 0, length(bytes), bytes
        from unnest($8::text[], $9::bytea[]) as b(digest, bytes) where bytes is not null order by digest
        on conflict do nothing)
      insert into steps (run_id, task, attempt, generation, try_number, sequence, role, digest)
      select $1, $2, $3, $4, $5, * from unnest($6::int[], $7::text[], $8::text[])
      on conflict do nothing`,
    values: [
      key.runId,
      key.task,
      key.attempt,
      key.generation,
      tryNumber,
      steps.map(({ sequence }) => sequence),
      steps.map(({ message }) => message.role),
      blobs.map(({ digest }) => digest),
      bytes,
    ],
  });
}

/**
 * The messages of a try up to and including `upToSequence`, in order. Throws an error that names the blob
 * when one is missing.
 */
export async function loadTranscript(
  db: Db,
  {
    key,
    tryNumber,
    upToSequence,
  }: { readonly key: AttemptKey; readonly tryNumber: number; readonly upToSequence: number },
): Promise<Message[]> {
  const rows = await selectRows<{
    sequence: number;
    digest: string;
    bytes: Buffer | null;
    size: number | null;
  }>(db, {
    name: 'load-transcript',
    text: `select s.sequence, s.digest, b.bytes,
        (first_value(b.size_bytes) over (partition by s.sequence order by b.chunk))::float8 as size
      from steps s left join blobs b on b.digest = s.digest
      where s.run_id = $1 and s.task = $2 and s.attempt = $3 and s.generation = $4 and s.try_number = $5
        and s.sequence <= $6
      order by s.sequence, b.chunk`,
    values: [key.runId, key.task, key.attempt, key.generation, tryNumber, upToSequence],
  });
  const bySequence = Map.groupBy(rows, ({ sequence }) => sequence);
  return [...bySequence.values()].map((chunks) => {
    const whole = Buffer.concat(chunks.map(({ bytes }) => bytes ?? Buffer.alloc(0)));
    const first = chunks[0];
    if (first === undefined || first.size !== whole.byteLength) {
      throw new Error(`The store has no blob ${first?.digest ?? ''}, which message ${first?.sequence} is.`);
    }
    return JSON.parse(whole.toString('utf8')) as Message;
  });
}
