import type { Db } from '../store/pool.ts';
import { listRuns, loadRun, type RunRow } from '../store/runs.ts';
import { ClientError } from './client-error.ts';
import { matchRun } from './match-run.ts';

const MAX_RUNS = 10_000;
const MAX_NAMED = 5;

/**
 * The run that a word means: `last`, an id, or a prefix of one. Throws a ClientError that names the nearest ids
 * when there is none, and the candidates when there are several.
 */
export async function findRun(db: Db, word: string): Promise<RunRow> {
  const exact = word === 'last' ? null : await loadRun(db, word);
  if (exact !== null) return exact;
  const runs = await listRuns(db, { limit: word === 'last' ? 1 : MAX_RUNS });
  const match = matchRun(
    word,
    runs.map((run) => run.runId),
  );
  switch (match.kind) {
    case 'found': {
      const run = runs.find((one) => one.runId === match.runId);
      if (run !== undefined) return run;
      break;
    }
    case 'ambiguous':
      throw new ClientError(
        `"${word}" could be ${match.runIds.length} runs: ${nameSome(match.runIds)}. Type more of the id, or \`last\`.`,
      );
    case 'unknown':
      break;
  }
  throw new ClientError(describeUnknown(word, runs, match.kind === 'unknown' ? match.nearest : []));
}

function describeUnknown(word: string, runs: readonly RunRow[], nearest: readonly string[]): string {
  if (runs.length === 0)
    return 'There are no runs yet. Start one with `assay run FILE`; `assay init` writes a file to start from.';
  if (nearest.length > 0) return `There is no run "${word}". Near: ${nameSome(nearest)}.`;
  return `There is no run "${word}". The newest is ${runs[0]?.runId ?? ''}; \`assay list\` shows all.`;
}

const nameSome = (runIds: readonly string[]): string =>
  runIds.length <= MAX_NAMED ? runIds.join(', ') : `${runIds.slice(0, MAX_NAMED).join(', ')}, ...`;
