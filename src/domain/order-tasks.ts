import type { RequestSpec } from './run.ts';

/** One planned task, numbered in scheduler order. */
export type PlannedTask = {
  readonly task: number;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
};

/**
 * The scheduler's order: requests as declared; in a request with order `case` all models on case 1, then on
 * case 2 ..., with order `model` all cases of model 1, then of model 2 ... Numbers count from 1.
 */
export function orderTasks(
  requests: readonly { readonly spec: RequestSpec; readonly caseIds: readonly string[] }[],
): readonly PlannedTask[] {
  const tasks: PlannedTask[] = [];
  for (const [requestIndex, { spec, caseIds }] of requests.entries()) {
    const pairs =
      spec.order === 'case'
        ? caseIds.flatMap((caseId) => spec.modelIds.map((modelId) => ({ caseId, modelId })))
        : spec.modelIds.flatMap((modelId) => caseIds.map((caseId) => ({ caseId, modelId })));
    for (const pair of pairs) tasks.push({ task: tasks.length + 1, requestIndex, ...pair });
  }
  return tasks;
}
