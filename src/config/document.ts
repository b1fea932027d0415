import type * as z from 'zod';
import type { RunSpec } from '../domain/run.ts';
import type { Suite } from '../domain/suite.ts';
import { toDigest } from './digest.ts';
import { runDocumentSchema, suiteCaseSchema, suiteHeadSchema } from './document-schema.ts';
import type { LoadedRun } from './load.ts';

/** A loaded run as it is stored: small, with suites and files by the SHA-256 of their bytes. */
export type RunDocument = {
  readonly format: 1;
  readonly spec: RunSpec;
  readonly suites: { readonly [suiteKey: string]: string };
  readonly files: readonly string[];
  readonly seedDrawn: boolean;
  readonly warnings: readonly string[];
};

/** A loaded run read back; its files stay where they are stored. */
export type StoredRun = Omit<LoadedRun, 'files'> & { readonly fileDigests: readonly string[] };

/** Plain JSON and the blobs that it names. Equal runs give equal documents. */
export function toDocument(loaded: LoadedRun): {
  readonly document: RunDocument;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
} {
  const blobs = new Map(loaded.files);
  const suites: { [suiteKey: string]: string } = {};
  for (const [key, suite] of loaded.suites) {
    const bytes = encodeSuite(suite);
    const digest = toDigest(bytes);
    blobs.set(digest, bytes);
    suites[key] = digest;
  }
  const { spec, seedDrawn, warnings } = loaded;
  const files = [...loaded.files.keys()].toSorted();
  return { document: { format: 1, spec, suites, files, seedDrawn, warnings }, blobs };
}

/**
 * Checks a stored document and its suites again, since they come from outside. Throws an `Error` that says
 * what is wrong.
 */
export async function fromDocument(
  document: unknown,
  loadBlob: (digest: string) => Promise<Uint8Array>,
): Promise<StoredRun> {
  const { spec, suites, files, seedDrawn, warnings } = check(runDocumentSchema, document, 'run document');
  const loaded = new Map<string, Suite>();
  for (const [key, digest] of Object.entries(suites)) {
    const bytes = await loadBlob(digest);
    if (toDigest(bytes) !== digest) throw new Error(`Blob ${digest} of suite "${key}" holds other bytes.`);
    loaded.set(key, decodeSuite(bytes));
  }
  const missing = spec.requests.find(({ suiteKey }) => !loaded.has(suiteKey));
  if (missing !== undefined) {
    throw new Error(`The run document has no suite "${missing.suiteKey}" for request "${missing.name}".`);
  }
  return { spec, suites: loaded, fileDigests: files, seedDrawn, warnings };
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new Error(`The ${what} is not one of this version: ${path}: ${issue?.message ?? 'wrong shape'}`);
}

/** JSON Lines: the head, then a case a line, so that no text grows with the suite. */
export function encodeSuite({ name, version, scorers, cases }: Suite): Uint8Array {
  const lines = [{ name, version, scorers }, ...cases].map((line) =>
    Buffer.from(`${JSON.stringify(line)}\n`),
  );
  return Buffer.concat(lines);
}

export function decodeSuite(bytes: Uint8Array): Suite {
  const [head, ...cases] = readLines(bytes);
  return {
    ...check(suiteHeadSchema, head, 'suite'),
    cases: cases.map((line) => check(suiteCaseSchema, line, 'suite case')),
  };
}

function* readLines(bytes: Uint8Array): Generator<unknown> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = 0; start < buffer.length;) {
    const found = buffer.indexOf(0x0a, start);
    const end = found === -1 ? buffer.length : found;
    yield JSON.parse(buffer.toString('utf8', start, end));
    start = end + 1;
  }
}
