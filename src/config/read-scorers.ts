import { z } from 'zod';
import { listJudges } from '../domain/judge.ts';
import type { RunPlan } from '../domain/plan.ts';
import type { ScorerSpec } from '../domain/suite.ts';
import type { Catalog, Gathered } from './catalog.ts';
import { checkShape } from './check-shape.ts';
import { parseText } from './parse-document.ts';
import { ConfigError, toProblem } from './problem.ts';
import { resolveScorers } from './resolve-scorers.ts';
import { scorerEntry } from './shapes.ts';
import { createValueSource, type Source } from './source.ts';
import { isMap } from './written.ts';

export type ReadScorers = {
  readonly scorers: readonly ScorerSpec[];
  /** SHA-256 -> content of files that they name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
};

type Place = {
  readonly source: Source;
  /** Folder that relative paths start from. */
  readonly baseDir: string;
  readonly catalog: Catalog;
};

/** A list of scorers as run files and suites write it. Throws a ConfigError with everything that is wrong with it. */
export function readScorers(value: unknown, { source, baseDir, catalog }: Place): ReadScorers {
  const gathered: Gathered = { catalog, problems: [], warnings: [], files: new Map() };
  const entries = checkShape(z.array(scorerEntry).min(1), value, { source, problems: gathered.problems });
  const scorers = resolveScorers(entries ?? [], { source, baseDir, gathered });
  if (gathered.problems.length > 0) throw new ConfigError(gathered.problems);
  return { scorers, files: gathered.files };
}

/** The `scorers` of a file: a suite, or a list alone. */
export function parseScorers(
  { file, text }: { readonly file: string; readonly text: string },
  place: Omit<Place, 'source'>,
): ReadScorers {
  const syntax = file.endsWith('.json') ? 'json' : 'yaml';
  const { source, value, problems } = parseText({ file, text, syntax, secrets: new Set() });
  if (problems.length > 0) throw new ConfigError(problems);
  const list = isMap(value) ? value['scorers'] : value;
  if (list === undefined)
    throw new ConfigError([toProblem(source, { path: [], message: 'the file names no "scorers"' })]);
  return readScorers(list, { source, ...place });
}

/** Scorers as options of a command: a kind, or a map such as `{ kind: numeric, tolerance: 0.1 }`. */
export function parseScorerTexts(texts: readonly string[], place: Omit<Place, 'source'>): ReadScorers {
  const entries = texts.map((text) => {
    const { value, problems } = parseText({ file: '--scorer', text, syntax: 'yaml', secrets: new Set() });
    if (problems.length > 0) throw new ConfigError(problems);
    return value;
  });
  return readScorers(entries, { source: createValueSource('--scorer', new Set()), ...place });
}

const MAX_NAMED = 10;

/** Why scorers cannot grade what a run has recorded, one sentence each; empty = they can. */
export function findScorerProblems(
  scorers: readonly ScorerSpec[],
  run: { readonly plan: RunPlan; readonly withoutTarget: readonly string[]; readonly catalog: Catalog },
): readonly string[] {
  return scorers.flatMap((scorer) => {
    const known = run.catalog.scorers.get(scorer.kind);
    if (known === undefined) return [`scorer "${scorer.name}": this run knows no scorer "${scorer.kind}"`];
    const needsTarget = known.needsTarget(scorer.options) && run.withoutTarget.length > 0;
    return [
      ...(needsTarget ? [toTargetProblem(scorer, run.withoutTarget)] : []),
      ...(known.place === 'session' ? findSessionProblems(scorer, run.plan) : []),
      ...(known.place === 'judge' ? findJudgeProblems(scorer, run.plan) : []),
    ];
  });
}

function toTargetProblem({ name }: ScorerSpec, caseIds: readonly string[]): string {
  const more = caseIds.length > MAX_NAMED ? ` and ${caseIds.length - MAX_NAMED} more` : '';
  return `scorer "${name}" needs a target, and these cases have none: ${caseIds.slice(0, MAX_NAMED).join(', ')}${more}`;
}

const findSessionProblems = ({ name }: ScorerSpec, { requests }: RunPlan): readonly string[] =>
  requests.flatMap(({ spec }) => {
    const what = `request "${spec.name}": scorer "${name}" acts in an environment, and`;
    if (spec.environment.kind === 'none') return [`${what} this request has none`];
    return spec.evaluation === 'none' ? [`${what} its evaluation is "none": nothing of it was kept`] : [];
  });

function findJudgeProblems({ name, options }: ScorerSpec, { spec }: RunPlan): readonly string[] {
  const { judges = [] } = spec;
  if (judges.length === 0)
    return [`scorer "${name}" asks a judge, and this run was started without one that a scorer asks`];
  const known = judges.map(({ id }) => id);
  const unknown = listJudges(options, judges).filter((id) => !known.includes(id));
  return unknown.map((id) => `scorer "${name}" asks judge "${id}", and this run has ${known.join(', ')}`);
}
