import { cleanSandboxes, forgetHost, listSandboxes } from '../client/sandboxes.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { formatMoment } from './format.ts';
import { hasStack, withRuns } from './open-assay.ts';
import { formatTextTable } from './text-table.ts';
import { UsageError } from './usage-error.ts';

/** `assay sandbox list` */
export async function showSandboxes(context: CommandContext): Promise<CommandResult> {
  if (!hasStack(context.settings)) return toEmpty();
  return withRuns(context, async ({ connection }) => {
    const sessions = await listSandboxes(connection);
    if (sessions.length === 0) return toEmpty();
    const kept = sessions.filter(({ state }) => state === 'retained');
    const rows = sessions.map((one) => [
      one.sessionId,
      one.kind,
      one.state === 'retained' ? 'kept' : one.state,
      one.hostId,
      formatMoment(one.createdAt),
      one.keepUntil === null ? '' : formatMoment(one.keepUntil),
      one.root ?? '',
    ]);
    const heads = ['session', 'environment', 'state', 'host', 'since', 'until', 'place'];
    return toResult({
      document: { sessions },
      text: formatTextTable({ heads, rows, right: [] }),
      next: kept.length === 0 ? [] : ['assay sandbox clean'],
    });
  });
}

const toEmpty = (): CommandResult =>
  toResult({ document: { sessions: [] }, text: 'No session of an environment is open or kept.' });

/** `assay sandbox clean` */
export async function cleanByWord(ids: readonly string[], context: CommandContext): Promise<CommandResult> {
  if (!hasStack(context.settings)) return toEmpty();
  return withRuns(context, async ({ connection }) => {
    const cleaned = await cleanSandboxes(connection, ids);
    const text =
      cleaned.length === 0
        ? 'No session is kept.'
        : `${cleaned.length} kept ${cleaned.length === 1 ? 'session expires' : 'sessions expire'} now; the worker of its host removes it within a minute.`;
    return toResult({
      document: { cleaned },
      text,
      next: cleaned.length === 0 ? [] : ['assay sandbox list'],
    });
  });
}

/** `assay sandbox clean --host` */
export async function forgetByWord(
  hostId: string,
  ids: readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  if (ids.length > 0)
    throw new UsageError(
      '`assay sandbox clean` takes ids of sessions or --host, not both: --host means all of them.',
    );
  if (!hasStack(context.settings)) return toEmpty();
  return withRuns(context, async ({ connection }) => {
    const forgotten = await forgetHost(connection, hostId);
    const text = `${forgotten.length} ${forgotten.length === 1 ? 'session' : 'sessions'} of host ${hostId} forgotten; its worker removes them should it come back.`;
    return toResult({ document: { cleaned: forgotten, hostId }, text, next: ['assay sandbox list'] });
  });
}
