/** A fault that the user can mend: its message is shown alone, says what happened and what to do. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
}
