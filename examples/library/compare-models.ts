import { AssayClient, type RunHandle } from 'assay';

/** Two models on a handful of sums; the mock models cost nothing. */
const run = {
  name: 'sums',
  models: ['mock:oracle', { id: 'forgetful', provider: 'mock', model: 'flaky', params: { accuracy: 0.5 } }],
  suite: {
    name: 'sums',
    scorers: ['exact'],
    cases: Array.from({ length: 8 }, (_, index) => ({
      id: `sum-${index + 1}`,
      input: `What is ${index} + 1?`,
      target: String(index + 1),
    })),
  },
  attempts: { k: 2 },
  execution: { seed: 7 },
};

/** Starts the run, tells how it goes, and returns the leaderboard as lines. */
export async function compareModels(
  client: AssayClient,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const handle: RunHandle = await client.start(run);
  for await (const progress of handle.watch({ pollMs: 200 })) {
    const done = progress.rows.reduce((sum, row) => sum + row.done, 0);
    say(`${handle.runId}: ${progress.state}, ${done} cells`);
  }
  const { boards } = await handle.report();
  return boards.flatMap(({ rows }) =>
    rows.map(
      ({ rank, modelId, figures }) =>
        `${rank ?? '-'} ${modelId} ${figures.mean?.value.toFixed(2) ?? 'no data'}`,
    ),
  );
}

if (import.meta.main) {
  await using client = await AssayClient.connect({ note: console.error });
  for (const line of await compareModels(client, console.error)) console.log(line);
}
