import { runAnalyzers } from '../analyzers/run-analyzers.ts';
import type { RecordInput } from '../domain/step.ts';
import { listModelCalls, listToolCalls, recordAnalyses, type TryPlace } from '../store/analyses.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * Analyzers on the way of a recorded attempt that acted, in the try that answered; what goes wrong in one of them is its own row. Only a store
 * that is away throws. Idempotent.
 */
export async function analyze(
  dependencies: Dependencies,
  { cell, end }: RecordInput,
  place: TryPlace,
): Promise<void> {
  const { request } = await dependencies.runs.find(cell);
  if (request.light || (end.kind === 'failed' && end.outcome === 'not_run')) return;
  const { db, analyzers, redact } = dependencies;
  const [toolCalls, modelCalls] = await Promise.all([listToolCalls(db, place), listModelCalls(db, place)]);
  const trajectory = { harness: request.spec.harness.kind, toolCalls, modelCalls };
  const rows = runAnalyzers(analyzers, trajectory);
  await recordAnalyses(
    db,
    cell,
    rows.map((row) => ({ ...row, error: row.error === null ? null : redact(row.error) })),
  );
}
