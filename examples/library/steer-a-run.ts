import { AssayClient } from 'assay';

/**
 * Starts a run file, lets it wait for approval when it is dear, pauses it, gives it more room, and prints what came
 * of every attempt: `node steer-a-run.ts run.yaml`.
 */
async function main(file: string): Promise<void> {
  await using client = await AssayClient.connect({ note: console.error });
  const handle = await client.start(file);
  if ((await handle.progress())?.state === 'awaiting_approval') await handle.approve({ by: 'a program' });
  await handle.pause({ note: 'to look at the first answers' });
  for await (const row of handle.rows()) {
    if (row.outcome !== null) console.log(row.modelId, row.caseId, row.outcome.kind, row.answerPreview);
  }
  console.error((await handle.set({ taskConcurrency: 64 })).message);
  await handle.unpause();
  const { state, outcomes } = await handle.result();
  console.log(state, outcomes);
}

if (import.meta.main) await main(process.argv[2] ?? 'run.yaml');
