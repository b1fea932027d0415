import type { AttemptKey } from '../domain/ids.ts';
import type { Artifact } from '../domain/artifacts.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { escapeText, unescapeText } from './text.ts';

export type ArtifactPlace = { readonly key: AttemptKey; readonly tryNumber: number };

/** Keeps the list of the files that a try left; the blobs are there already. The same again changes nothing. */
export async function recordArtifacts(
  db: Db,
  { key, tryNumber }: ArtifactPlace,
  artifacts: readonly Artifact[],
): Promise<void> {
  await db.query({
    text: `insert into artifacts (run_id, task, attempt, generation, try_number, name, digest, size_bytes)
      select $1, $2, $3, $4, $5, * from unnest($6::text[], $7::text[], $8::bigint[])
      on conflict (run_id, task, attempt, generation, try_number, name)
        do update set digest = excluded.digest, size_bytes = excluded.size_bytes`,
    values: [
      ...toKey({ key, tryNumber }),
      artifacts.map(({ path }) => escapeText(path)),
      artifacts.map(({ digest }) => digest),
      artifacts.map(({ bytes }) => bytes),
    ],
  });
}

/** Files that a try left, by path. */
export async function listArtifacts(db: Db, place: ArtifactPlace): Promise<readonly Artifact[]> {
  const rows = await selectRows<{ path: string; digest: string; bytes: number }>(db, {
    text: `select name as path, digest, size_bytes::float8 as bytes from artifacts
      where run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5 order by name`,
    values: toKey(place),
  });
  return rows.map((row) => ({ ...row, path: unescapeText(row.path) }));
}

const toKey = ({ key, tryNumber }: ArtifactPlace): unknown[] => [
  key.runId,
  key.task,
  key.attempt,
  key.generation,
  tryNumber,
];
