/** A fault of the local stack that a person can act on: the message is shown as it is, without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

/** The text of anything that was thrown, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The system's code of an error (`ENOSPC`, `EACCES`, ...), looked for through the cause chain; null without one. */
export function codeOf(error: unknown): string | null {
  for (let at = error, links = 0; at instanceof Error && links < 10; at = at.cause, links += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return null;
}
