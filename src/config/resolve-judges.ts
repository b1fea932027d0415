import { findNearest } from './nearest.ts';
import { toProblem } from './problem.ts';
import type { ModelsPlace, Placed, ResolvedModels } from './resolve-models.ts';
import { resolveModels, splitShortForm } from './resolve-models.ts';
import type { JudgeEntry, ModelEntry } from './run-file.ts';
import type { RunParts } from './run-parts.ts';
import { within } from './source.ts';

/** Judges as models with ids of their own: a model of the file with changed parameters, or one by its short form. */
export function resolveJudges(parts: RunParts, place: ModelsPlace): ResolvedModels {
  const listed = parts.judges.flatMap((judge) => {
    const entry = toModelEntry(judge, parts, place);
    return entry === null ? [] : [{ entry, path: judge.path }];
  });
  return resolveModels(listed, place);
}

function toModelEntry(
  { entry, path }: Placed<JudgeEntry>,
  parts: RunParts,
  { source, gathered }: ModelsPlace,
): ModelEntry | null {
  const { id = entry.model, model, params, price } = entry;
  const own = { ...(price === undefined ? {} : { price }), id };
  const named = parts.models
    .map((one) => one.entry)
    .find((one) => typeof one !== 'string' && one.id === model);
  if (named !== undefined && typeof named !== 'string')
    return { ...named, ...own, params: { ...named.params, ...params } };
  if (model.includes(':'))
    return { ...splitShortForm(model), ...own, ...(params === undefined ? {} : { params }) };
  const ids = parts.models.flatMap((one) =>
    typeof one.entry === 'string' || one.entry.id === undefined ? [] : [one.entry.id],
  );
  // A model whose entry is wrong has been reported.
  if (parts.declaredModelIds.includes(model)) return null;
  const message = `unknown model "${model}": expected "provider:model" or the id of a model of this file`;
  const finding = { path: ['model'], message, got: model, suggestion: findNearest(model, ids) };
  gathered.problems.push(toProblem(within(source, path), finding));
  return null;
}
