import { createBuiltInCatalog } from '../config/built-in-catalog.ts';
import { fromDocument } from '../config/document.ts';
import { loadRun, type LoadedRun } from '../config/load.ts';
import { ConfigError, formatProblems } from '../config/problem.ts';
import type { RunInput } from '../domain/workflow-brief.ts';
import { saveBlob } from '../store/blobs.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';

const MAX_INLINE_BYTES = 64 * 1024;

/** A checked run whose files are stored. */
export type ReadRun = Pick<LoadedRun, 'spec' | 'suites'>;

/** The checked run behind an input: a stored document, or a run file sent inline. */
export async function readDocument(dependencies: Dependencies, input: RunInput): Promise<ReadRun> {
  if (input.documentDigest !== undefined) return await readStored(dependencies, input.documentDigest);
  if (input.document !== undefined) return await readInline(dependencies, input);
  throw fatal(
    'InvalidRun',
    'the input of workflow "run" needs documentDigest, document or resume; none came',
  );
}

async function readStored({ blobs }: Dependencies, digest: string): Promise<ReadRun> {
  const document = await blobs.loadJson(digest);
  try {
    return await fromDocument(document, (one) => blobs.load(one));
  } catch (error) {
    if (!(error instanceof Error) || 'code' in error) throw error;
    throw fatal('InvalidRun', error.message, error);
  }
}

/** Its paths are read here, and the files that it names are kept as if a client had sent them. */
async function readInline({ db }: Dependencies, input: RunInput): Promise<ReadRun> {
  const bytes = Buffer.byteLength(JSON.stringify(input.document));
  if (bytes > MAX_INLINE_BYTES) {
    throw fatal(
      'InvalidRun',
      `document has ${bytes} bytes; inline it may have at most ${MAX_INLINE_BYTES}: store it and send documentDigest`,
    );
  }
  const loaded = await loadInline(input);
  for (const content of loaded.files.values()) await saveBlob(db, content);
  return loaded;
}

async function loadInline({ document, baseDir }: RunInput): Promise<LoadedRun> {
  const value = document ?? null;
  const catalog = createBuiltInCatalog();
  try {
    return await loadRun({ source: { kind: 'document', value, baseDir: baseDir ?? process.cwd() }, catalog });
  } catch (error) {
    if (error instanceof ConfigError) throw fatal('InvalidRun', formatProblems(error.problems), error);
    throw error;
  }
}
