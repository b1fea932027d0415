import type { TaskRef } from './plan.ts';

export const PACK_TASKS = 25;
export const PACK_ATTEMPTS = 200;
export const PACK_PLACES = 16;

/** What packing looks at in a request. */
export type Packable = {
  readonly light: boolean;
  /** Light attempts that the request plans in this generation. */
  readonly attempts: number;
};

export type PackingRule = {
  readonly packing: 'auto' | 'off';
  readonly taskConcurrency: number;
  /** By request index. */
  readonly requests: readonly Packable[];
};

/** Tasks that share one task workflow: consecutive, of one request. */
export type Pack = {
  readonly requestIndex: number;
  readonly tasks: readonly TaskRef[];
  readonly attempts: number;
};

/** Whether the tasks of a request share workflows. */
export function isPacked(rule: PackingRule, requestIndex: number): boolean {
  const request = rule.requests[requestIndex];
  if (request === undefined || !request.light || rule.packing === 'off') return false;
  return request.attempts > 4 * rule.taskConcurrency;
}

/**
 * Cuts tasks, given in scheduler order, into the workflows that carry them: one each for heavy tasks and
 * small requests, else up to 25 consecutive tasks and 200 attempts.
 */
export function packTasks(tasks: readonly TaskRef[], rule: PackingRule): readonly Pack[] {
  const packs: { requestIndex: number; tasks: TaskRef[]; attempts: number }[] = [];
  for (const task of tasks) {
    const last = packs.at(-1);
    const fits =
      last !== undefined &&
      isPacked(rule, task.requestIndex) &&
      last.requestIndex === task.requestIndex &&
      last.tasks.length < PACK_TASKS &&
      last.attempts + task.attempts.length <= PACK_ATTEMPTS;
    if (fits) {
      last.tasks.push(task);
      last.attempts += task.attempts.length;
    } else {
      packs.push({ requestIndex: task.requestIndex, tasks: [task], attempts: task.attempts.length });
    }
  }
  return packs;
}
