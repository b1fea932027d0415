import type { RunSpec } from '../domain/run.ts';
import { ModuleError } from '../modules/module-error.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';

/** Whether the code of a run file can be loaded where workers run. Throws `InvalidRun` that says why not. */
export async function checkModule({ modules }: Dependencies, { module }: RunSpec): Promise<void> {
  if (module === undefined) return;
  const { tools, scorers, providers } = module;
  if (tools.length + scorers.length + providers.length === 0) return;
  try {
    await modules.check(module, new AbortController().signal);
  } catch (error) {
    if (error instanceof ModuleError) throw fatal('InvalidRun', error.message, error);
    throw error;
  }
}
