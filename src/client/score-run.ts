import { createBuiltInCatalog } from '../config/built-in-catalog.ts';
import type { Catalog } from '../config/catalog.ts';
import { findScorerProblems, parseScorers, parseScorerTexts, readScorers } from '../config/read-scorers.ts';
import { createValueSource } from '../config/source.ts';
import type { ReadScorers } from '../config/read-scorers.ts';
import type { Json } from '../domain/json.ts';
import { listKeyNames } from '../domain/key-names.ts';
import { isTerminal } from '../domain/outcome.ts';
import { withModule } from '../modules/with-module.ts';
import { saveBlob } from '../store/blobs.ts';
import { countAnswers, listWithoutTarget } from '../store/gradings.ts';
import { loadPlan } from '../store/plans.ts';
import type { RunRow } from '../store/runs.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';
import { startAgain, type Resumed } from './control-run.ts';
import { handOverKeys } from './hand-over.ts';

/** Scorers as somebody wrote them: in a program, in options of the command line, or in a file. */
export type GivenScorers = { readonly baseDir: string } & (
  | { readonly value: Json }
  | { readonly texts: readonly string[] }
  | { readonly file: string; readonly text: string }
);

/**
 * Grades the recorded answers of a run that has ended again: starts its workflow with a new generation in which
 * nothing is run. Null = by the scorers of the run file. Throws a ClientError while the run is open, when nothing was
 * answered, and when the scorers cannot grade what it recorded; a ConfigError when they are written wrong.
 */
export async function scoreRun(
  connection: AssayConnection,
  { run, read }: { readonly run: RunRow; readonly read: GivenScorers | null },
): Promise<Resumed> {
  const { runId } = run;
  const cells = await countGradable(connection, run);
  const plan = await loadPlan(connection.db, runId);
  const catalog = withModule(createBuiltInCatalog(), plan.spec.module);
  const scorers = read === null ? null : readGiven(read, catalog);
  const withoutTarget = await listWithoutTarget(connection.db, runId);
  const problems = findScorerProblems(scorers?.scorers ?? [], { plan, withoutTarget, catalog });
  if (problems.length > 0) throw new ClientError(`Nothing was started: ${problems.join('; ')}.`);
  const score = scorers === null ? {} : { scorersDigest: await store(connection, scorers) };
  await handOverKeys(connection, listKeyNames({ ...plan.spec, requests: [] }));
  await startAgain(connection, run, { runId, score });
  return { runId, cells, generation: run.generation + 1 };
}

function readGiven(given: GivenScorers, catalog: Catalog): ReadScorers {
  const place = { baseDir: given.baseDir, catalog };
  if ('texts' in given) return parseScorerTexts(given.texts, place);
  if ('file' in given) return parseScorers(given, place);
  return readScorers(given.value, { ...place, source: createValueSource('scorers', new Set()) });
}

async function store({ db }: AssayConnection, { scorers, files }: ReadScorers): Promise<string> {
  for (const content of files.values()) await saveBlob(db, content);
  return await saveBlob(db, Buffer.from(JSON.stringify(scorers)));
}

async function countGradable({ db }: AssayConnection, run: RunRow): Promise<number> {
  const { runId, state, planDigest } = run;
  if (!isTerminal(state))
    throw new ClientError(`Run ${runId} is ${state}: \`assay watch ${runId}\` waits for its end.`);
  if (planDigest === null) throw new ClientError(`Run ${runId} was not planned: it has no answers to grade.`);
  const cells = await countAnswers(db, runId);
  if (cells > 0) return cells;
  throw new ClientError(`Run ${runId} has no answers to grade: \`assay report ${runId}\` says why.`);
}
