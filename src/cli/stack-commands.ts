import { doctor, down, up } from '../local/commands.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { toStackOptions } from './open-assay.ts';

/** `assay up` */
export async function startStack(context: CommandContext): Promise<CommandResult> {
  const { lines, exitCode, data } = await up(toStackOptions(context));
  return toResult({ document: data, text: lines.join('\n'), exitCode });
}

/** `assay down` */
export async function stopLocalStack({ settings }: CommandContext): Promise<CommandResult> {
  const { lines, exitCode, data } = await down(settings.dataDir);
  return toResult({ document: data, text: lines.join('\n'), exitCode });
}

/** `assay doctor` */
export async function examine(context: CommandContext): Promise<CommandResult> {
  const { dataDir, environment } = toStackOptions(context);
  const { lines, exitCode, data } = await doctor({ dataDir, environment, describeMigrations });
  return toResult({
    document: data,
    text: lines.join('\n'),
    exitCode,
    next: exitCode === 0 ? ['assay run FILE'] : [],
  });
}

async function describeMigrations(databaseUrl: string): Promise<string> {
  const { createPool } = await import('../store/pool.ts');
  const { loadMigrationStatus } = await import('../store/migrate.ts');
  const db = createPool(databaseUrl, { maxConnections: 1 });
  try {
    const { applied, known } = await loadMigrationStatus(db);
    if (applied > known) throw new Error(`its tables are of a newer Assay (step ${applied} of ${known})`);
    if (applied < known)
      return `tables at step ${applied} of ${known}; the next command brings them up to date`;
    return 'tables up to date';
  } finally {
    await db.end();
  }
}
