import { printTasks, type PrintedTasks } from '../../src/activities/fingerprints.ts';
import { orderTasks } from '../../src/domain/order-tasks.ts';
import type { Json } from '../../src/domain/json.ts';
import { load } from '../support/load.ts';

/** The tasks of a run file with their fingerprints, by case. */
export async function printDocument(document: Json): Promise<PrintedTasks> {
  const loaded = await load(document);
  const tasks = orderTasks(
    loaded.spec.requests.map((spec) => ({
      spec,
      caseIds: [...(loaded.suites.get(spec.suiteKey)?.cases ?? [])].map(({ testCase }) => testCase.id),
    })),
  );
  return printTasks({ modules: null as never }, loaded, tasks);
}
