import { fileURLToPath } from 'node:url';
import { ensureStack, type Stack, type StackOptions } from '../local/stack.ts';
import { ClientError } from './client-error.ts';
import { connectAssay, type AssayConnection } from './connect.ts';
import { handOverMissing } from './hand-over.ts';

/** The stack that answers, and a connection to it. Close it whatever happens. */
export type OpenAssay = {
  readonly connection: AssayConnection;
  readonly stack: Stack;
  readonly close: () => Promise<void>;
};

/**
 * A stack without a worker would not stop by itself, so every client wants one, unless `worker` (ASSAY_WORKER) says
 * that they run elsewhere. Throws a ClientError for another value of it.
 */
export function toStackOptions({
  dataDir,
  worker,
  note,
}: {
  readonly dataDir: string;
  readonly worker: string | null;
  readonly note: (text: string) => void;
}): StackOptions {
  const launcher = fileURLToPath(new URL('../../bin/assay', import.meta.url));
  return {
    dataDir,
    environment: process.env,
    workerCommand: isWorkerElsewhere(worker) ? null : [launcher, 'worker', '--stack'],
    note,
  };
}

function isWorkerElsewhere(worker: string | null): boolean {
  if (worker === null || worker === 'elsewhere') return worker === 'elsewhere';
  throw new ClientError(
    `ASSAY_WORKER is "${worker}": expected "elsewhere" (other machines run the workers), or unset it.`,
  );
}

/** Starts what is missing of the stack and connects. Throws a StackError or a ClientError that says what to do. */
export async function openAssay(options: StackOptions): Promise<OpenAssay> {
  const stack = await ensureStack(options);
  try {
    const connection = await connectAssay({
      databaseUrl: stack.databaseUrl,
      dataDir: options.dataDir,
      temporal: stack.uiUrl === null ? null : { address: stack.temporalAddress, namespace: stack.namespace },
    });
    const close = async (): Promise<void> => {
      await connection.close();
      stack.leave();
    };
    // A look at the store that fails is told by whoever needs the store.
    await handOverMissing(connection).catch(() => undefined);
    return { connection, stack, close };
  } catch (error) {
    stack.leave();
    throw error;
  }
}
