import type { ReportCell, ReportRequest, ReportRows } from '../domain/report-rows.ts';
import type { Note } from './report-schema.ts';

/** One model under one request of one run. */
export type Side = {
  readonly runId: string;
  readonly seed: number;
  readonly request: ReportRequest;
  readonly modelId: string;
  readonly cells: readonly ReportCell[];
};

export type SidePair = { readonly first: Side; readonly second: Side };

export type Paired = { readonly pairs: readonly SidePair[]; readonly notes: readonly Note[] };

/** Every pair of models of each request of one run, in the order of the run file. */
export function pairModels(rows: ReportRows, modelIds: readonly string[]): Paired {
  const pairs = rows.requests.flatMap((request) => {
    const sides = toSides(rows, request).filter(({ modelId }) => isWanted(modelId, modelIds));
    return sides.flatMap((first, index) => sides.slice(index + 1).map((second) => ({ first, second })));
  });
  return { pairs, notes: [] };
}

/**
 * The models that two runs have in common, by request. Requests are matched by name, or as they are when each run
 * has one; so are models when each request has one.
 */
export function pairRuns(one: ReportRows, other: ReportRows, modelIds: readonly string[]): Paired {
  const notes: Note[] = [];
  const pairs = one.requests.flatMap((request) => {
    const match =
      other.requests.find(({ name }) => name === request.name) ??
      (one.requests.length === 1 && other.requests.length === 1 ? other.requests[0] : undefined);
    if (match === undefined) {
      notes.push(
        toNote('request_missing', request.name, `${other.run.runId} has no request ${request.name}`),
      );
      return [];
    }
    if (request.suiteDigest !== match.suiteDigest) {
      const text = `the suites differ (${request.suiteName}, ${match.suiteName}): cases are matched by their ids`;
      notes.push(toNote('suites_differ', request.name, text));
    }
    const [firsts, seconds] = [toSides(one, request), toSides(other, match)];
    const alone = firsts.length === 1 && seconds.length === 1;
    return firsts.flatMap((first) => {
      if (!isWanted(first.modelId, modelIds)) return [];
      const second =
        seconds.find(({ modelId }) => modelId === first.modelId) ?? (alone ? seconds[0] : undefined);
      if (second !== undefined) return [{ first, second }];
      notes.push(toNote('model_missing', request.name, `${other.run.runId} has no model ${first.modelId}`));
      return [];
    });
  });
  return { pairs, notes };
}

const toNote = (code: string, requestName: string, text: string): Note => ({
  code,
  requestName,
  modelId: null,
  text,
});

const isWanted = (modelId: string, modelIds: readonly string[]): boolean =>
  modelIds.length === 0 || modelIds.includes(modelId);

const toSides = ({ run, cells }: ReportRows, request: ReportRequest): readonly Side[] =>
  request.modelIds.map((modelId) => ({
    runId: run.runId,
    seed: run.seed,
    request,
    modelId,
    cells: cells.filter((cell) => cell.requestIndex === request.index && cell.modelId === modelId),
  }));
