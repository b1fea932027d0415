import type { NativeConnection } from '@temporalio/worker';

const NAMES = ['AssayRun', 'AssayRequest', 'AssayModel', 'AssayCase', 'AssayOutcome'];

/** Whether the namespace knows Assay's search attributes; where it does not, runs go on without them. */
export async function findSearchAttributes(
  connection: NativeConnection,
  namespace: string,
): Promise<boolean> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return NAMES.every((name) => customAttributes?.[name] !== undefined);
}
