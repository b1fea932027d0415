import type { RunModule } from '../domain/run-module.ts';
import type { RunSpec } from '../domain/run.ts';
import type { ModulePool } from '../modules/module-pool.ts';
import { createModuleScorer } from '../modules/module-scorer.ts';
import { createModuleTool } from '../modules/module-tool.ts';
import { findScorer } from '../scorers/lookup.ts';
import type { Scorer } from '../scorers/scorer.ts';
import { findTool } from '../tools/lookup.ts';
import type { Tool } from '../tools/tool.ts';

type Owner = { readonly spec: Pick<RunSpec, 'module'> };

/** A tool by its name: built in, or of the run file. Null for a name that no tool has. */
export function findRunTool(pool: ModulePool, { spec: { module } }: Owner, name: string): Tool | null {
  const own = module?.tools.find(({ schema }) => schema.name === name);
  return module === undefined || own === undefined ? findTool(name) : createModuleTool(pool, module, own);
}

/** A scorer by its kind: built in, or of the run file. */
export function findRunScorer(pool: ModulePool, { spec: { module } }: Owner, kind: string): Scorer {
  const own = module?.scorers.find(({ name }) => name === kind);
  return module === undefined || own === undefined ? findScorer(kind) : createModuleScorer(pool, module, own);
}

/** Where a scorer judges. */
export const placeOfScorer = (module: RunModule | undefined, kind: string): Scorer['place'] =>
  module?.scorers.some(({ name }) => name === kind) === true ? 'process' : findScorer(kind).place;
