import { isUtf8 } from 'node:buffer';
import picomatch from 'picomatch';
import { ALL_ARTIFACTS, type Artifact, type ArtifactsSpec } from '../domain/artifacts.ts';
import type { CollectInput, CollectResult } from '../domain/step.ts';
import { SessionLostError, type EnvironmentSession, type FoundFile } from '../environments/environment.ts';
import { recordArtifacts } from '../store/artifacts.ts';
import { noteWarning } from '../store/attempt-warnings.ts';
import { BlobTooLargeError, saveBlobStream, type Readable } from '../store/blob-streams.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';
import { isStoreAway } from './until-written.ts';

/**
 * Activity `collect`: a last look at the agent's files, after its processes have ended and before its session closes.
 * Files are kept as blobs with a list of them; what is over the limits is left out and said.
 */
export const createCollecting = (dependencies: Dependencies) => ({
  collect: (input: CollectInput): Promise<CollectResult> =>
    withHeartbeat((signal) => collect(dependencies, input, signal)),
});

async function collect(
  dependencies: Dependencies,
  { cell, tryNumber, session: ref }: CollectInput,
  signal: AbortSignal,
): Promise<CollectResult> {
  const { db } = dependencies;
  const { request } = await dependencies.runs.find(cell);
  const session = await dependencies.environmentFor(ref.kind).attach(ref);
  if (session === null)
    throw fatal('EnvironmentLost', `session ${ref.sessionId} is not on this host any more`);
  const spec = request.spec.artifacts ?? ALL_ARTIFACTS;
  const artifacts: Artifact[] = [];
  try {
    await dependencies.mcp.close(ref.sessionId);
    await session.endProcesses();
    signal.throwIfAborted();
    const left = await gather(dependencies, session, { spec, signal, artifacts });
    await recordArtifacts(db, { key: cell, tryNumber }, artifacts);
    if (left !== null)
      await noteWarning(db, { key: cell, warning: { tryNumber, phase: 'collect', message: left } });
    return { kind: 'collected', files: artifacts.length, left };
  } catch (error) {
    signal.throwIfAborted();
    if (isStoreAway(error)) throw error;
    await recordArtifacts(db, { key: cell, tryNumber }, artifacts);
    const code = error instanceof SessionLostError ? 'environment_lost' : 'collect_failed';
    const message = dependencies.redact(error instanceof Error ? error.message : String(error));
    return { kind: 'failed', reason: { code, phase: 'collect', message: message.slice(0, 2_000) } };
  }
}

type Gathering = {
  readonly spec: ArtifactsSpec;
  readonly signal: AbortSignal;
  /** Filled as files are kept. */
  readonly artifacts: Artifact[];
};

/** In the order of their paths, so that the same files are kept each time. Returns what was left out, or null. */
async function gather(
  dependencies: Dependencies,
  session: EnvironmentSession,
  { spec, signal, artifacts }: Gathering,
): Promise<string | null> {
  const isMeant = picomatch([...spec.paths], { dot: true });
  const found = (await session.findFiles('.')).filter(({ path }) => isMeant(path));
  const left: string[] = [];
  let room = spec.maxBytes;
  for (const file of found) {
    signal.throwIfAborted();
    const artifact =
      artifacts.length < spec.maxFiles && file.bytes <= room
        ? await save(dependencies, session, { file, room })
        : null;
    if (artifact === null) left.push(file.path);
    else {
      artifacts.push(artifact);
      room -= artifact.bytes;
    }
  }
  if (left.length === 0) return null;
  const limits = `${spec.maxFiles} files, ${spec.maxBytes} bytes`;
  const named = left.slice(0, 5).join(', ');
  return `${left.length} of ${found.length} artifacts are over the limit (${limits}): ${named}`;
}

/** Null for a file that grew over what room there is. */
async function save(
  { db, redact }: Dependencies,
  session: EnvironmentSession,
  { file, room }: { readonly file: FoundFile; readonly room: number },
): Promise<Artifact | null> {
  const { path } = file;
  const download: Readable = () => session.download(path);
  const read = file.bytes > REDACTED_BYTES ? download : await redacted(download, redact);
  try {
    return { path, ...(await saveBlobStream(db, read, room)) };
  } catch (error) {
    if (error instanceof BlobTooLargeError) return null;
    throw error;
  }
}

const REDACTED_BYTES = 8 * 1024 * 1024;

/** A text that holds a known secret is kept without it; what is not text, or is large, is kept as it is. */
async function redacted(download: Readable, redact: (text: string) => string): Promise<Readable> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of await download()) {
    size += piece.byteLength;
    // It grew since it was listed.
    if (size > REDACTED_BYTES) return download;
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  const text = isUtf8(bytes) ? bytes.toString('utf8') : null;
  const clean = text === null ? null : redact(text);
  const content = clean === null || clean === text ? bytes : Buffer.from(clean, 'utf8');
  return async () => toStream(content);
}

async function* toStream(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
