import type { Json } from '../../src/domain/json.ts';
import type { Score } from '../../src/domain/score.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import type { TestAssay } from '../support/assay.ts';
import { begin, loadCalls } from './support.ts';

export const RUBRIC = 'Pass when the answer names the capital that the reference names.';

type Judged = {
  readonly provider: Json;
  /** Answers by case; the reference is `Paris`. */
  readonly answers: { readonly [caseId: string]: string };
  readonly scorer?: { readonly [option: string]: Json };
  readonly rest?: { readonly [key: string]: Json };
};

export const toDocument = ({
  provider,
  answers,
  scorer = {},
  rest = {},
}: Judged): { readonly [key: string]: Json } => ({
  name: 'judged',
  models: [{ id: 'm', provider: 'mock', model: 'answers', params: { answers } }],
  providers: [provider],
  judge: { model: 'judge:wise' },
  suite: {
    name: 'capitals',
    scorers: [{ kind: 'judge', rubric: RUBRIC, ...scorer }],
    cases: Object.keys(answers).map((id) => ({
      id,
      input: 'What is the capital of France?',
      target: 'Paris',
    })),
  },
  ...rest,
});

/** Each case with its verdict: a value, or the code of none. */
export async function runJudged(assay: TestAssay, document: { readonly [key: string]: Json }) {
  const runId = await begin(assay, document);
  const result = await assay.result(runId);
  const { cells } = await loadReportRows(assay.db, runId);
  const verdicts = new Map(
    cells.map(({ caseId, scores }) => [
      caseId,
      (scores as readonly Score[]).find(({ kind }) => kind === 'judge')?.verdict,
    ]),
  );
  const values = Object.fromEntries(
    [...verdicts].map(([caseId, one]) => [caseId, one?.kind === 'scored' ? one.value : (one?.code ?? null)]),
  );
  return { runId, result, cells, verdicts, values };
}

/** The judge's provider, as the documents here name it. */
export const provider = (server: { provider: (more?: object) => object }, more: object = {}): Json =>
  server.provider({ id: 'judge', ...more }) as Json;

/** States of the calls of the judge, in the order in which they were begun. */
export async function listStates(assay: TestAssay, runId: string): Promise<readonly string[]> {
  const calls = await loadCalls(assay, runId);
  return calls.filter(({ model_id }) => model_id === 'judge:judge:wise').map(({ state }) => state);
}
