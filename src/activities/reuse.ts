import { listDifferences, type Difference } from '../domain/differences.ts';
import { toContent } from '../domain/fingerprint.ts';
import type { RunPlan } from '../domain/plan.ts';
import { redactPatterns } from '../domain/redact.ts';
import { explainRefusal, type CellDifference, type Reuse, type ReuseRequest } from '../domain/reuse.ts';
import { loadCases, loadPlan } from '../store/plans.ts';
import type { Db } from '../store/pool.ts';
import { listRefusedCells, saveReuse, takeCells, type RefusedCells } from '../store/reuse.ts';
import { loadRun } from '../store/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { providerOf } from './preflight.ts';

/** The plan of the run that cells are taken from. Throws `InvalidRun` when there is none. */
export async function loadSource({ db }: Dependencies, reuse: ReuseRequest, own: string): Promise<RunPlan> {
  if (reuse.runId === own) throw fatal('InvalidRun', `reuse: run "${own}" cannot take cells from itself`);
  const run = await loadRun(db, reuse.runId);
  if (run === null)
    throw fatal('InvalidRun', `reuse: there is no run "${reuse.runId}" in this database (\`assay list\`)`);
  if (run.planDigest === null)
    throw fatal(
      'InvalidRun',
      `reuse: run "${reuse.runId}" is ${run.state} and was not planned: it has no cells`,
    );
  return await loadPlan(db, reuse.runId);
}

/**
 * Takes what matches, in the transaction that plans the run, and records what was taken and what was not, and why.
 * Throws `InvalidRun` with the fields that differ when nothing can be taken: then the run is not planned.
 */
export async function reuseCells(
  dependencies: Dependencies,
  client: Db,
  plans: { readonly plan: RunPlan; readonly source: RunPlan; readonly allowMismatch: boolean },
): Promise<void> {
  const { plan, source, allowMismatch } = plans;
  const { runId } = plan;
  const counts = await takeCells(client, { runId, sourceRunId: source.runId, allowMismatch });
  const groups = await listRefusedCells(client, { runId, sourceRunId: source.runId });
  const reuse: Reuse = {
    runId: source.runId,
    allowMismatch,
    ...counts,
    refused: groups.reduce((sum, { refused }) => sum + refused, 0),
    differences: await explain(dependencies, client, { ...plans, groups }),
  };
  const refusal = explainRefusal(reuse);
  if (refusal !== null) throw fatal('InvalidRun', refusal);
  await saveReuse(client, runId, reuse);
}

type Explained = {
  readonly plan: RunPlan;
  readonly source: RunPlan;
  readonly groups: readonly RefusedCells[];
};

const MAX_FIELDS = 20;

/** The fields that differ, those of most cells first; of cases one example of each group is looked at. */
async function explain(
  { redact }: Pick<Dependencies, 'redact'>,
  client: Db,
  { groups, ...plans }: Explained,
): Promise<readonly CellDifference[]> {
  const fields = new Map<string, CellDifference>();
  for (const group of groups) {
    const setup = listDifferences(group.sourceSetup, group.setup);
    const content = group.sameContent ? [] : await compareContents(client, plans, group);
    for (const one of [...setup, ...content]) {
      const { cells, ...first } = fields.get(one.field) ?? { ...one, cells: 0 };
      fields.set(one.field, { ...first, cells: cells + group.cells });
    }
  }
  const clean = (text: string | null): string | null => (text === null ? null : redactPatterns(redact(text)));
  return [...fields.values()]
    .toSorted((a, b) => b.cells - a.cells)
    .slice(0, MAX_FIELDS)
    .map((one) => ({ ...one, before: clean(one.before), after: clean(one.after) }));
}

async function compareContents(
  client: Db,
  { plan, source }: Pick<Explained, 'plan' | 'source'>,
  { example, sourceExample }: RefusedCells,
): Promise<readonly Difference[]> {
  // An answer that the source itself had taken was made elsewhere.
  const { runId } = sourceExample;
  const made = runId === source.runId ? source : await loadPlan(client, runId);
  const before = await loadContent(client, made, sourceExample);
  const after = await loadContent(client, plan, example);
  return listDifferences(before, after, 'case');
}

async function loadContent(
  client: Db,
  { runId, spec, requests }: RunPlan,
  { requestIndex, modelId, caseId }: RefusedCells['example'],
): Promise<object | null> {
  const found = (await loadCases(client, { runId, requestIndex, caseIds: [caseId] })).get(caseId);
  const request = requests[requestIndex]?.spec;
  const model = spec.models.find(({ id }) => id === modelId);
  if (found === undefined || request === undefined || model === undefined) return null;
  return toContent({ ...found, request, provider: providerOf(spec, model) });
}
