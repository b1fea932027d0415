import { activityInfo } from '@temporalio/activity';
import { z } from 'zod';
import { createBuiltInCatalog } from '../config/built-in-catalog.ts';
import type { Catalog } from '../config/catalog.ts';
import { scorerSpecSchema } from '../config/document-schema.ts';
import { ConfigError, formatProblems } from '../config/problem.ts';
import { findScorerProblems, readScorers } from '../config/read-scorers.ts';
import { createValueSource } from '../config/source.ts';
import type { RunPlan } from '../domain/plan.ts';
import type { ScorerSpec } from '../domain/suite.ts';
import type { ScoreRequest } from '../domain/workflow-brief.ts';
import { withModule } from '../modules/with-module.ts';
import { saveBlob } from '../store/blobs.ts';
import { listTaskCases, listWithoutTarget, planGrading, type GradingRequest } from '../store/gradings.ts';
import { loadCases } from '../store/plans.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { printGrading } from './fingerprints.ts';
import { workflowIdOf } from './workflow-id.ts';

/**
 * Opens the generation in which the answers of a run are graded again. Throws `InvalidRun` when the scorers cannot
 * grade what it recorded, or when no answer can be graded without running it again.
 */
export async function openGrading(
  dependencies: Dependencies,
  plan: RunPlan,
  request: ScoreRequest,
): Promise<void> {
  const { db } = dependencies;
  const { runId } = plan;
  const catalog = withModule(createBuiltInCatalog(), plan.spec.module);
  const scorers = await loadScorers(dependencies, catalog, request);
  const withoutTarget = await listWithoutTarget(db, runId);
  const problems = findScorerProblems(scorers ?? [], { plan, withoutTarget, catalog });
  if (problems.length > 0) throw fatal('InvalidRun', problems.join('\n'));
  const tasks = await printTasks(dependencies, plan, scorers);
  const token = activityInfo().workflowExecution?.runId ?? workflowIdOf();
  const { cells, ungradable } = await planGrading(db, { runId, token, scorers, tasks });
  if (cells > 0) return;
  const why =
    ungradable === 0
      ? 'none of its attempts ended with an answer'
      : 'its scorers look into the sessions of its agents, which are closed (evaluation "reuse"): only `assay retry` grades them, by running them again';
  throw fatal('InvalidRun', `run "${runId}" has nothing to grade again: ${why}`);
}

/** Null = those of the run file. */
async function loadScorers(
  { db, blobs }: Dependencies,
  catalog: Catalog,
  { scorers, scorersDigest }: ScoreRequest,
): Promise<readonly ScorerSpec[] | null> {
  if (scorersDigest !== undefined)
    return z.array(scorerSpecSchema).parse(await blobs.loadJson(scorersDigest));
  if (scorers === undefined) return null;
  const source = createValueSource('score.scorers', new Set());
  try {
    const read = readScorers(scorers, { source, baseDir: process.cwd(), catalog });
    for (const content of read.files.values()) await saveBlob(db, content);
    return read.scorers;
  } catch (error) {
    if (error instanceof ConfigError) throw fatal('InvalidRun', formatProblems(error.problems), error);
    throw error;
  }
}

const CASES_AT_ONCE = 1_000;

/** What the new scores depend on, task by task. */
async function printTasks(
  { db }: Dependencies,
  plan: RunPlan,
  scorers: readonly ScorerSpec[] | null,
): Promise<GradingRequest['tasks']> {
  const byRequest = Map.groupBy(await listTaskCases(db, plan.runId), ({ requestIndex }) => requestIndex);
  const printed: GradingRequest['tasks'][number][] = [];
  for (const tasks of byRequest.values())
    for (let start = 0; start < tasks.length; start += CASES_AT_ONCE)
      printed.push(...(await printPage(db, { plan, scorers }, tasks.slice(start, start + CASES_AT_ONCE))));
  return printed;
}

/** Tasks of one request. */
async function printPage(
  db: Dependencies['db'],
  { plan, scorers }: { readonly plan: RunPlan; readonly scorers: readonly ScorerSpec[] | null },
  tasks: Awaited<ReturnType<typeof listTaskCases>>,
): Promise<GradingRequest['tasks']> {
  const { runId, spec, requests } = plan;
  const requestIndex = tasks[0]?.requestIndex ?? 0;
  const request = requests[requestIndex];
  if (request === undefined) throw fatal('OutsidePlan', `run ${runId} has no request ${requestIndex}`);
  const place = { spec, request: request.spec, suite: { scorers: scorers ?? request.scorers } };
  const caseIds = [...new Set(tasks.map(({ caseId }) => caseId))];
  const cases = await loadCases(db, { runId, requestIndex, caseIds });
  return tasks.flatMap(({ task, caseId }) => {
    const found = cases.get(caseId);
    if (found === undefined) return [];
    const testCase = { ...found.testCase, scorers: scorers === null ? found.testCase.scorers : null };
    return [{ task, ...printGrading(place, { ...found, testCase }) }];
  });
}
