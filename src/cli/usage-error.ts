/** The command line does not say what it must; the message says how to put it right. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}
