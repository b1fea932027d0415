import type { IncomingMessage } from 'node:http';

/** Larger requests are refused. */
export const REQUEST_LIMIT_BYTES = 32 * 1024 * 1024;

/** The body of a request, or null when it is too large; the rest of it is then read and dropped. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    request.resume();
    return null;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= limitBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes > limitBytes ? null : Buffer.concat(chunks);
}
