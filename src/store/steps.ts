import type { AttemptKey } from '../domain/ids.ts';
import type { Message } from '../domain/transcript.ts';
import { prepareBlob, toDigest, toJsonBlob } from './blobs.ts';
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

export type StepRange = {
  readonly key: AttemptKey;
  readonly tryNumber: number;
  /** Steps up to and including this one are left out; 0 = none. */
  readonly afterSequence: number;
  readonly upToSequence: number;
};

/** A step as stored, with the bytes that its message has as JSON. */
export type StoredStep = Step & { readonly jsonBytes: number };

/**
 * The messages of a try up to and including `upToSequence`, in order. Throws an error that names the blob
 * when one is missing.
 */
export async function loadTranscript(db: Db, range: Omit<StepRange, 'afterSequence'>): Promise<Message[]> {
  return (await loadSteps(db, { ...range, afterSequence: 0 })).map(({ message }) => message);
}

/** A part of a try's transcript, in order. Throws an error that names the blob when one is missing. */
export async function loadSteps(
  db: Db,
  { key, tryNumber, afterSequence, upToSequence }: StepRange,
): Promise<StoredStep[]> {
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
        and s.sequence > $6 and s.sequence <= $7
      order by s.sequence, b.chunk`,
    values: [key.runId, key.task, key.attempt, key.generation, tryNumber, afterSequence, upToSequence],
  });
  const bySequence = Map.groupBy(rows, ({ sequence }) => sequence);
  return [...bySequence].map(([sequence, chunks]) => {
    const whole = Buffer.concat(chunks.map(({ bytes }) => bytes ?? Buffer.alloc(0)));
    const first = chunks[0];
    if (first === undefined || first.size !== whole.byteLength) {
      throw new Error(`The store has no blob ${first?.digest ?? ''}, which message ${sequence} is.`);
    }
    if (toDigest(whole) !== first.digest)
      throw new Error(
        `Blob ${first.digest}, which message ${sequence} is, is damaged: its bytes have changed.`,
      );
    const message = JSON.parse(whole.toString('utf8')) as Message;
    return { sequence, message, jsonBytes: whole.byteLength };
  });
}
