import pg from 'pg';
import { RUN_CHANNEL } from './runs.ts';

/**
 * Calls `onChange` with the run's id whenever a run is added or changes its state. A hint only: messages
 * are lost while the connection is away, so callers look by themselves now and then, too. `onLost` is called
 * once when the connection ends. Returns the function that stops listening.
 */
export async function listenForRuns(
  databaseUrl: string,
  { onChange, onLost }: { readonly onChange: (runId: string) => void; readonly onLost: () => void },
): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  let lost = false;
  const lose = (): void => {
    if (!lost) onLost();
    lost = true;
  };
  client.on('error', lose);
  client.on('end', lose);
  client.on('notification', ({ payload }) => onChange(payload ?? ''));
  await client.connect();
  await client.query(`listen ${RUN_CHANNEL}`);
  return async () => {
    lost = true;
    await client.end();
  };
}
