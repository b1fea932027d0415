import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { listOpenEngines } from '../store/engines.ts';
import type { Db } from '../store/pool.ts';
import { listChangedWaits, saveMissingKeys, saveWorkerKeys, type ChangedWait } from '../store/worker-keys.ts';
import { KEYS_MISSING, type KeysMissing } from '../workflows/messages.ts';

export type KeyWatch = {
  readonly db: Db;
  readonly client: Client;
  /** Of this process: `<host>/<pid>`. */
  readonly workerId: string;
  readonly hasKey: (name: string) => boolean;
  /** Names that were handed over: other workers may look for them before a run needs them. */
  readonly handedOver: () => readonly string[];
};

/**
 * Says which keys this worker has and misses, and tells open runs when what they wait for has changed: in
 * their row, and by a signal that shows it in the Temporal UI.
 */
export async function lookAtKeys({ db, client, ...watch }: KeyWatch): Promise<void> {
  const engines = await listOpenEngines(db);
  const needed = engines.map((engine) => engine.apiKeyEnv).filter((name) => name !== null);
  const names = [...new Set([...needed, ...watch.handedOver()])];
  if (names.length > 0) {
    const held = names.filter(watch.hasKey);
    const missed = names.filter((name) => !watch.hasKey(name));
    await saveWorkerKeys(db, { workerId: watch.workerId, held, missed });
  }
  for (const changed of await listChangedWaits(db)) {
    await tell(client, changed);
    await saveMissingKeys(db, changed);
  }
}

async function tell(client: Client, { workflowId, missing }: ChangedWait): Promise<void> {
  const message: KeysMissing = { names: missing };
  try {
    await client.workflow.getHandle(workflowId).signal(KEYS_MISSING, message);
  } catch (error) {
    // Closed meanwhile: the row of the run is settled by others.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
