import { resolve } from 'node:path';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Gathered } from './catalog.ts';
import { describe } from './check-shape.ts';
import { parseText } from './parse-document.ts';
import { toProblem } from './problem.ts';
import { readTextBytes } from './read-file.ts';
import type { Source } from './source.ts';
import { isMap, toText, unwrap } from './written.ts';

type Place = { readonly source: Source; readonly baseDir: string; readonly gathered: Gathered };

/**
 * Params of a mock model with `answersFile` and `scriptFile` (YAML or JSON, beside the run file) replaced by
 * their content as `answers` and `script`, so that the run needs no file later.
 */
export function inlineMockFiles(params: JsonObject, place: Place): JsonObject {
  const { answersFile, scriptFile, ...rest } = params;
  const answers = answersFile === undefined ? undefined : readMap('answersFile', answersFile, place);
  const script = scriptFile === undefined ? undefined : readMap('scriptFile', scriptFile, place);
  return {
    ...rest,
    ...(answers === undefined ? {} : { answers: toTexts(answers) }),
    ...(script === undefined ? {} : { script: unwrap(script) as Json }),
  };
}

/** Answers are text as it was written, whatever YAML makes of it. */
const toTexts = (answers: { readonly [id: string]: unknown }): JsonObject =>
  Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id, toText(answer) as Json]));

function readMap(
  param: string,
  path: Json,
  { source, baseDir, gathered }: Place,
): { readonly [key: string]: unknown } | undefined {
  const fail = (message: string, suggestion: string | null = null): undefined => {
    gathered.problems.push(toProblem(source, { path: ['params', param], message, suggestion }));
  };
  if (typeof path !== 'string') return fail(`expected the path of a file, got ${describe(path)}`);
  const file = readTextBytes(resolve(baseDir, path), path);
  if (file.kind === 'failed') return fail(file.message, file.suggestion);
  const syntax = path.toLowerCase().endsWith('.json') ? 'json' : 'yaml';
  const parsed = parseText({ file: path, text: file.bytes.toString('utf8'), syntax, secrets: new Set() });
  gathered.problems.push(...parsed.problems);
  if (parsed.value === undefined || parsed.problems.length > 0) return undefined;
  if (isMap(parsed.value)) return parsed.value;
  return fail(`"${path}": expected a map, got ${describe(parsed.value)}`);
}
