import { printTasks, type PrintedTasks } from '../../src/activities/fingerprints.ts';
import { orderTasks } from '../../src/domain/order-tasks.ts';
import type { Json } from '../../src/domain/json.ts';
import type { Fate } from './changes.ts';
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

/** What becomes of each case of a run when it is run once more after a change. */
export function findFates(before: PrintedTasks, after: PrintedTasks): ReadonlyMap<string, Fate> {
  const known = new Map(before.tasks.map((task) => [task.task, task.prints]));
  return new Map(
    after.tasks.map(({ task, caseId, prints }) => {
      const earlier = known.get(task);
      const isSame =
        earlier?.setupDigest === prints.setupDigest && earlier.contentDigest === prints.contentDigest;
      const fate = earlier?.gradingDigest === prints.gradingDigest ? 'kept' : 'graded again';
      return [caseId, isSame ? fate : 'run again'];
    }),
  );
}
