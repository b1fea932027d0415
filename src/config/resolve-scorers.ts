import { basename, resolve } from 'node:path';
import type { JsonObject } from '../domain/json.ts';
import type { ScorerSpec } from '../domain/suite.ts';
import type { Gathered } from './catalog.ts';
import { checkShape, describe } from './check-shape.ts';
import { keepFile } from './digest.ts';
import { findNearest } from './nearest.ts';
import { toProblem } from './problem.ts';
import { readBytes, readTextBytes } from './read-file.ts';
import { findPathProblem } from './session-path.ts';
import type { ScorerEntry } from './shapes.ts';
import { within } from './source.ts';
import type { Source } from './source.ts';
import { isMap } from './written.ts';

type Place = {
  readonly source: Source;
  /** Folder that relative paths start from. */
  readonly baseDir: string;
  readonly gathered: Gathered;
};

/** Scorers as declared, options checked by each scorer's own schema, defaults filled in. */
export function resolveScorers(entries: readonly ScorerEntry[], place: Place): readonly ScorerSpec[] {
  const specs: ScorerSpec[] = [];
  for (const [index, entry] of entries.entries()) {
    const spec = resolveScorer(entry, { ...place, source: within(place.source, [index]) });
    if (spec === null) continue;
    if (specs.some((other) => other.name === spec.name)) {
      const message = `two scorers are called "${spec.name}": give each a "name" of its own`;
      place.gathered.problems.push(toProblem(place.source, { path: [index], message }));
    }
    specs.push(spec);
  }
  return specs;
}

function resolveScorer(entry: ScorerEntry, place: Place): ScorerSpec | null {
  const { kind, name, weight, threshold, required, not, ...given } =
    typeof entry === 'string' ? { kind: entry } : { ...entry };
  const { scorers } = place.gathered.catalog;
  const scorer = scorers.get(kind);
  if (scorer === undefined) {
    const known = [...scorers.keys()];
    const finding = {
      path: typeof entry === 'string' ? [] : ['kind'],
      message: `unknown scorer "${kind}"; available: ${known.join(', ')}`,
      expected: known.join(', '),
      got: kind,
      suggestion: findNearest(kind, known),
    };
    place.gathered.problems.push(toProblem(place.source, finding));
    return null;
  }
  const withFiles =
    scorer.place === 'session'
      ? readScorerFiles(given, place)
      : scorer.readsCode === true
        ? readScorerCode(given, place)
        : given;
  const at = { source: place.source, problems: place.gathered.problems };
  const options = checkShape(scorer.options, withFiles, at);
  if (options === null) return null;
  return {
    kind,
    name: name ?? (not === true ? `not-${kind}` : kind),
    weight: weight ?? 1,
    threshold: threshold ?? scorer.threshold ?? 1,
    required: required ?? true,
    ...(not === true ? { not } : {}),
    options,
  };
}

/** Replaces the files that a scorer brings along by their digests. */
function readScorerFiles(given: { readonly [key: string]: unknown }, place: Place): JsonObject {
  const { files } = given;
  if (!isMap(files)) return given as JsonObject;
  const digests: { [path: string]: string } = {};
  for (const [target, path] of Object.entries(files)) {
    const digest = readScorerFile({ target, path }, place);
    if (digest !== null) digests[target] = digest;
  }
  return { ...given, files: digests } as JsonObject;
}

function readScorerFile(file: { target: string; path: unknown }, place: Place): string | null {
  const fail = (message: string, suggestion: string | null): null => {
    const finding = { path: ['files', file.target], message, suggestion };
    place.gathered.problems.push(toProblem(place.source, finding));
    return null;
  };
  const wrong = findPathProblem(file.target);
  if (wrong !== null) return fail(wrong, null);
  if (typeof file.path !== 'string') {
    return fail(`expected the path of a file, got ${describe(file.path)}`, null);
  }
  const content = readBytes(resolve(place.baseDir, file.path), file.path);
  if (content.kind === 'failed') return fail(content.message, content.suggestion);
  return keepFile(place.gathered.files, content.bytes);
}

/** The text of the file that holds a scorer's code, beside its name. */
function readScorerCode(given: { readonly [key: string]: unknown }, place: Place): JsonObject {
  const { file } = given;
  if (typeof file !== 'string' || given['code'] !== undefined) return given as JsonObject;
  const content = readTextBytes(resolve(place.baseDir, file), file);
  if (content.kind === 'read') {
    return { ...given, file: basename(file), code: new TextDecoder().decode(content.bytes) } as JsonObject;
  }
  const finding = { path: ['file'], message: content.message, suggestion: content.suggestion };
  place.gathered.problems.push(toProblem(place.source, finding));
  // The rest of the options is checked all the same.
  return { ...given, code: 'export default () => null' } as JsonObject;
}
