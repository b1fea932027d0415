import type { JsonObject } from './json.ts';
import type { ModelSpec } from './run.ts';
import type { ScorerSpec } from './suite.ts';

/** What one judge said of one answer. */
export type JudgeOpinion = {
  /** Name of the scorer that asked. */
  readonly scorer: string;
  /** Id of the judge. */
  readonly judge: string;
} & (
  | {
      readonly kind: 'verdict';
      /** An entry of the scorer's menu, or a number on its scale as text. */
      readonly verdict: string;
      /** The same, 0..1. */
      readonly value: number;
      readonly reason: string;
    }
  | {
      readonly kind: 'none';
      /** `unreadable`, `judge_down`, `judge_failed`, `too_long`. */
      readonly code: string;
      /** What came and what to do; of an unreadable reply the beginning of its text. */
      readonly message: string;
    }
);

/** Ids of the judges that a scorer asks: those that it names, else all of the run. */
export function listJudges(options: JsonObject, judges: readonly Pick<ModelSpec, 'id'>[]): readonly string[] {
  const { judges: named } = options;
  return Array.isArray(named) ? named.map(String) : judges.map(({ id }) => id);
}

/** Whose calls these are, where calls are kept by model: a judge that is also judged is told apart. */
export const toJudgeModelId = (judge: string): string => `judge:${judge}`;

/** `purpose` of a judge's calls; every grading of the same answers has a version of its own. */
export const toJudgePurpose = ({ name }: Pick<ScorerSpec, 'name'>, scoreVersion: number): string =>
  `judge/${name}/${scoreVersion}`;
