import type { RunModule } from '../domain/run-module.ts';
import type { HarnessSpec, RunSpec } from '../domain/run.ts';
import { changePolicy } from '../domain/tool-policy.ts';
import type { ModulePool } from '../modules/module-pool.ts';
import { createModuleScorer } from '../modules/module-scorer.ts';
import { createModuleTool } from '../modules/module-tool.ts';
import { findScorer } from '../scorers/lookup.ts';
import type { Scorer } from '../scorers/scorer.ts';
import { findTool } from '../tools/lookup.ts';
import type { Tool } from '../tools/tool.ts';

type Owner = { readonly spec: Pick<RunSpec, 'module'> };

type OwnTools = { readonly owner: Owner; readonly harness: HarnessSpec };

/**
 * A tool that a harness offers: built in, or of the run file, with the policy that the run file gives it. Null for
 * a name that is not offered.
 */
export function findRunTool(pool: ModulePool, { owner, harness }: OwnTools, name: string): Tool | null {
  if (harness.kind !== 'agent' || !harness.tools.includes(name)) return null;
  const { module } = owner.spec;
  const own = module?.tools.find(({ schema }) => schema.name === name);
  const change = Object.hasOwn(harness.policies ?? {}, name) ? harness.policies?.[name] : undefined;
  if (module !== undefined && own !== undefined)
    return createModuleTool(pool, module, { ...own, policy: changePolicy(own.policy, change) });
  const tool = findTool(name);
  return tool === null ? null : { ...tool, policy: changePolicy(tool.policy, change) };
}

/** A scorer by its kind: built in, or of the run file. */
export function findRunScorer(pool: ModulePool, { spec: { module } }: Owner, kind: string): Scorer {
  const own = module?.scorers.find(({ name }) => name === kind);
  return module === undefined || own === undefined ? findScorer(kind) : createModuleScorer(pool, module, own);
}

/** Where a scorer judges. */
export const placeOfScorer = (module: RunModule | undefined, kind: string): Scorer['place'] =>
  module?.scorers.some(({ name }) => name === kind) === true ? 'process' : findScorer(kind).place;
