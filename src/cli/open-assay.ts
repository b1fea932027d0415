import { ClientError } from '../client/client-error.ts';
import { openAssay, toStackOptions as toOptions, type OpenAssay } from '../client/open-stack.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import type { Stack, StackOptions } from '../local/stack.ts';
import { hasLocalData } from '../local/data-folder.ts';
import type { CommandContext } from './command.ts';

export type { OpenAssay } from '../client/open-stack.ts';

export const toStackOptions = ({ settings, note }: CommandContext): StackOptions =>
  toOptions({ ...settings, note });

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
