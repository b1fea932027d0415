import { promiseHooks } from 'node:v8';
import { Script } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * Preloaded into every thread of a worker process (`bin/assay worker`). In the threads that run workflows it
 * leaves out two aids of the Temporal SDK, which together cost more than the workflow code itself:
 *
 * - A time-out for each entry into workflow code, for which Node starts and joins an operating system thread:
 *   0.15 ms of CPU and 0.3 ms of waiting, four to six times a workflow task. It ends workflow code that loops
 *   for ever; ours runs no code of a user, and its loops are bounded.
 * - A hook on every promise, which records where it was made, for the query `__stack_trace`.
 *
 * `ASSAY_DEBUG=1` keeps both.
 */
if (!isMainThread && process.env['ASSAY_DEBUG'] === undefined) {
  const runInContext = Script.prototype.runInContext;
  Script.prototype.runInContext = function runWithoutTimer(context, options) {
    const { timeout: _, ...rest } = options ?? {};
    return runInContext.call(this, context, rest) as unknown;
  };
  promiseHooks.createHook = () => () => undefined;
}
