import { fileURLToPath } from 'node:url';
import { ClientError } from '../client/client-error.ts';
import { connectAssay, type AssayConnection } from '../client/connect.ts';
import { handOverMissing } from '../client/hand-over.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import { ensureStack, type Stack, type StackOptions } from '../local/stack.ts';
import { hasLocalData } from '../local/data-folder.ts';
import type { CommandContext } from './command.ts';
import { UsageError } from './usage-error.ts';

/** The stack that answers, and a connection to it. Close it whatever happens. */
export type OpenAssay = {
  readonly connection: AssayConnection;
  readonly stack: Stack;
  readonly close: () => Promise<void>;
};

/**
 * A stack without a worker would not stop by itself, so every command wants one, unless ASSAY_WORKER says that they
 * run elsewhere. Throws a UsageError for another value of it.
 */
export function toStackOptions({ settings, note }: CommandContext): StackOptions {
  const launcher = fileURLToPath(new URL('../../bin/assay', import.meta.url));
  return {
    dataDir: settings.dataDir,
    environment: process.env,
    workerCommand: isWorkerElsewhere(settings.worker) ? null : [launcher, 'worker', '--stack'],
    note,
  };
}

function isWorkerElsewhere(worker: string | null): boolean {
  if (worker === null || worker === 'elsewhere') return worker === 'elsewhere';
  throw new UsageError(
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

type Places = Pick<CommandContext['settings'], 'databaseUrl' | 'dataDir'>;

/** Whether there can be runs here: a database that the user named, or the data of a stack, whatever became of its file. */
export const hasStack = ({ databaseUrl, dataDir }: Places): boolean =>
  databaseUrl !== null || hasLocalData(dataDir);

/** Opens for the time of `work`, which looks for a run: in a folder that has none, no stack is started for it. */
export async function withRuns<T>(
  context: CommandContext,
  work: (open: OpenAssay) => Promise<T>,
): Promise<T> {
  if (hasStack(context.settings)) return withAssay(toStackOptions(context), work);
  throw new ClientError(
    `There are no runs in ${context.settings.dataDir}. Change to the folder of your runs, or start one with \`assay run FILE\`.`,
  );
}

/** Opens for the time of `work`. */
export async function withAssay<T>(options: StackOptions, work: (open: OpenAssay) => Promise<T>): Promise<T> {
  const open = await openAssay(options);
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

/** Address of a run in the Temporal UI; null for a server that the user runs, whose UI is not known. */
export const toRunUrl = ({ uiUrl, namespace }: Stack, runId: string): string | null =>
  uiUrl === null
    ? null
    : `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(toRunWorkflowId(runId))}`;
