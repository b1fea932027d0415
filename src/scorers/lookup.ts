import type { ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { choice } from './choice.ts';
import { commandScorer } from './command.ts';
import { cost } from './cost.ts';
import { exact } from './exact.ts';
import { includes } from './includes.ts';
import { javascript } from './javascript.ts';
import { json } from './json.ts';
import { judge } from './judge.ts';
import { latency } from './latency.ts';
import { numeric } from './numeric.ts';
import { regex } from './regex.ts';
import { similarity } from './similarity.ts';
import { trajectory } from './trajectory.ts';
import type { Scorer } from './scorer.ts';

/** Every scorer by its kind: a new one is a file and a line here. */
export const SCORERS: ReadonlyMap<string, Scorer> = new Map(
  [
    exact,
    includes,
    regex,
    choice,
    numeric,
    json,
    similarity,
    commandScorer,
    javascript,
    trajectory,
    latency,
    cost,
    judge,
  ].map((scorer) => [scorer.kind, scorer]),
);

/** @throws Error when there is no such scorer: suites are checked before anything runs. */
export function findScorer(kind: string): Scorer {
  const scorer = SCORERS.get(kind);
  if (scorer === undefined)
    throw new Error(`no scorer ${kind}; available: ${[...SCORERS.keys()].join(', ')}`);
  return scorer;
}

/** What reading a suite needs to know of a scorer. */
export type ScorerEntry = {
  readonly options: ZodType<JsonObject>;
  needsTarget(options: JsonObject): boolean;
  readonly place: Scorer['place'];
  readonly threshold?: number;
  readonly readsCode?: boolean;
};

/** The catalog that suites are checked against: kind -> option schema, need of a target, place. */
export const toScorerCatalog = (): ReadonlyMap<string, ScorerEntry> => SCORERS;
