import { isUtf8 } from 'node:buffer';
import picomatch from 'picomatch';
import { ALL_ARTIFACTS, type Artifact, type ArtifactsSpec } from '../domain/artifacts.ts';
import type { CollectInput, CollectResult } from '../domain/step.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { recordArtifacts } from '../store/artifacts.ts';
import { noteWarning } from '../store/attempt-warnings.ts';
import { BlobTooLargeError, saveBlobStream, type Readable } from '../store/blob-streams.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';

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
  const { request } = await dependencies.runs.find(cell);
  const session = await dependencies.environmentFor(ref.kind).attach(ref);
  if (session === null)
    throw fatal('EnvironmentLost', `session ${ref.sessionId} is not on this host any more`);
  await dependencies.mcp.close(ref.sessionId);
  await session.endProcesses();
  const gathered = await gather(dependencies, session, {
    spec: request.spec.artifacts ?? ALL_ARTIFACTS,
    signal,
  });
  await recordArtifacts(dependencies.db, { key: cell, tryNumber }, gathered.artifacts);
  const { left } = gathered;
  if (left !== null)
    await noteWarning(dependencies.db, {
      key: cell,
      warning: { tryNumber, phase: 'collect', message: left },
    });
  return { files: gathered.artifacts.length, left };
}

type Gathering = { readonly spec: ArtifactsSpec; readonly signal: AbortSignal };

/** In the order of their paths, so that the same files are kept each time. */
async function gather(
  dependencies: Dependencies,
  session: EnvironmentSession,
  { spec, signal }: Gathering,
): Promise<{ readonly artifacts: readonly Artifact[]; readonly left: string | null }> {
  const isMeant = picomatch([...spec.paths], { dot: true });
  const found = (await session.findFiles('.')).filter(({ path }) => isMeant(path));
  const artifacts: Artifact[] = [];
  const left: string[] = [];
  let room = spec.maxBytes;
  for (const { path, bytes } of found) {
    signal.throwIfAborted();
    const artifact =
      artifacts.length < spec.maxFiles && bytes <= room
        ? await save(dependencies, session, { path, room })
        : null;
    if (artifact === null) left.push(path);
    else {
      artifacts.push(artifact);
      room -= artifact.bytes;
    }
  }
  const limits = `${spec.maxFiles} files, ${spec.maxBytes} bytes`;
  const named = left.slice(0, 5).join(', ');
  return {
    artifacts,
    left:
      left.length === 0
        ? null
        : `${left.length} of ${found.length} artifacts are over the limit (${limits}): ${named}`,
  };
}

const REDACTED_BYTES = 8 * 1024 * 1024;

/** Null for a file that grew over what room there is. */
async function save(
  { db, redact }: Dependencies,
  session: EnvironmentSession,
  { path, room }: { readonly path: string; readonly room: number },
): Promise<Artifact | null> {
  const read: Readable = async () => {
    const content = await session.download(path);
    return content;
  };
  try {
    const blob = await saveBlobStream(db, await redacted(read, redact), room);
    return { path, ...blob };
  } catch (error) {
    if (error instanceof BlobTooLargeError) return null;
    throw error;
  }
}

/** A text that holds a known secret is kept without it; what is not text, or is large, is kept as it is. */
async function redacted(read: Readable, redact: (text: string) => string): Promise<Readable> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const stream = await read();
  for await (const piece of stream) {
    size += piece.byteLength;
    if (size > REDACTED_BYTES) return read;
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
