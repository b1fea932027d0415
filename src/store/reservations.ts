import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeText } from './text.ts';

/** Models that their own cap has stopped, also those whose cap was raised after it had cost them cells. */
export async function loadStoppedModels(db: Db, runId: string): Promise<string[]> {
  const rows = await selectRows<{ scope: string }>(db, {
    text: `select scope from reservations where run_id = $1 and scope like 'model/%' and stop_reason is not null
      union
      select 'model/' || t.model_id from latest_attempts a join tasks t using (run_id, task)
      where a.run_id = $1 and a.reason_code = 'budget' and exists (
        select from runs where run_id = $1 and max_model_usd is not null)
      order by scope`,
    values: [runId],
  });
  return rows.map((row) => unescapeText(row.scope.slice('model/'.length)));
}
