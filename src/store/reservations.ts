import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeText } from './text.ts';

/** Models that their own cap has stopped. */
export async function loadStoppedModels(db: Db, runId: string): Promise<string[]> {
  const rows = await selectRows<{ scope: string }>(db, {
    text: `select scope from reservations where run_id = $1 and scope like 'model/%' and stop_reason is not null
      order by scope`,
    values: [runId],
  });
  return rows.map((row) => unescapeText(row.scope.slice('model/'.length)));
}
