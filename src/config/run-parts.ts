import type * as z from 'zod';
import type { Gathered } from './catalog.ts';
import { checkShape } from './check-shape.ts';
import { toProblem } from './problem.ts';
import type { Path } from './problem.ts';
import type { RunText } from './read-run.ts';
import type { Listed, Placed } from './resolve-models.ts';
import {
  budgetsSchema,
  executionSchema,
  gatesSchema,
  judgeSchema,
  modelEntrySchema,
  providerSchema,
  rankingSchema,
  REQUEST_KEYS,
  requestSchema,
} from './run-file.ts';
import type { JudgeEntry, ModelEntry, ProviderEntry, RequestEntry } from './run-file.ts';
import { within } from './source.ts';
import { isMap } from './written.ts';

/** The parts of a run file, each checked by itself, so that one wrong part hides no other. */
export type RunParts = {
  readonly models: readonly Listed<ModelEntry>[];
  readonly providers: readonly Listed<ProviderEntry>[];
  /** Ids that wrong entries declare, too. */
  readonly declaredModelIds: readonly string[];
  readonly declaredProviderIds: readonly string[];
  readonly requests: readonly { readonly entry: RequestEntry; readonly path: Path }[];
  readonly execution: z.output<typeof executionSchema>;
  readonly budgets: z.output<typeof budgetsSchema>;
  readonly gates: z.output<typeof gatesSchema>;
  readonly ranking: z.output<typeof rankingSchema>;
  readonly judges: readonly Placed<JudgeEntry>[];
};

export function readParts(run: RunText, gathered: Gathered): RunParts {
  const { value } = run;
  const check = <Schema extends z.ZodType>(schema: Schema, part: unknown, path: Path) =>
    checkShape(schema, part, { source: within(run.source, path), problems: gathered.problems });
  const checkList = <Schema extends z.ZodType>(schema: Schema, key: string): Listed<z.output<Schema>>[] =>
    toList(value[key]).flatMap((part, index) => {
      const entry = check(schema, part, [key, index]);
      return entry === null ? [] : [{ index, entry }];
    });
  noteUnused(run, gathered);
  return {
    models: checkList(modelEntrySchema, 'models'),
    providers: checkList(providerSchema, 'providers'),
    declaredModelIds: toList(value['models']).flatMap(toModelId),
    declaredProviderIds: toList(value['providers']).flatMap((part) => toTextField(part, 'id')),
    requests: readRequests(run, gathered),
    execution: check(executionSchema, value['execution'] ?? {}, ['execution']) ?? executionSchema.parse({}),
    budgets: check(budgetsSchema, value['budgets'] ?? {}, ['budgets']) ?? budgetsSchema.parse({}),
    gates: check(gatesSchema, value['gates'] ?? {}, ['gates']) ?? gatesSchema.parse({}),
    ranking: check(rankingSchema, value['ranking'] ?? {}, ['ranking']) ?? {},
    judges: toPlaced(check(judgeSchema.optional(), value['judge'], ['judge']) ?? []),
  };
}

/** One judge stands by itself, several in a list. */
const toPlaced = (judges: JudgeEntry | readonly JudgeEntry[]): readonly Placed<JudgeEntry>[] =>
  isList(judges)
    ? judges.map((entry, index) => ({ entry, path: ['judge', index] }))
    : [{ entry: judges, path: ['judge'] }];

const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value);

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const toTextField = (part: unknown, key: string): readonly string[] => {
  const text = isMap(part) ? part[key] : undefined;
  return typeof text === 'string' ? [text] : [];
};

function toModelId(part: unknown): readonly string[] {
  if (typeof part === 'string') return [part];
  const [id] = toTextField(part, 'id');
  const [provider] = toTextField(part, 'provider');
  const [model] = toTextField(part, 'model');
  return id === undefined ? (provider && model ? [`${provider}:${model}`] : []) : [id];
}

/** Declared requests, or the one that the top-level keys make up. */
function readRequests(run: RunText, gathered: Gathered): RunParts['requests'] {
  const { value, source } = run;
  const at = { source, problems: gathered.problems };
  const single = REQUEST_KEYS.filter((key) => value[key] !== undefined);
  if (value['requests'] === undefined) {
    if (value['suite'] === undefined) {
      const message = '"suite" is missing: a run needs a "suite", or "requests" that each have one';
      gathered.problems.push(toProblem(source, { path: [], message }));
      return [];
    }
    const entry = checkShape(requestSchema, Object.fromEntries(single.map((key) => [key, value[key]])), at);
    return entry === null ? [] : [{ entry, path: [] }];
  }
  for (const key of single) {
    const message = `"${key}" belongs into each of the "requests" when a file has them`;
    gathered.problems.push(toProblem(source, { path: [key], at: 'key', message }));
  }
  return toList(value['requests']).flatMap((part, index) => {
    const path = ['requests', index];
    const entry = checkShape(requestSchema, part, { ...at, source: within(source, path) });
    return entry === null ? [] : [{ entry, path }];
  });
}

/** A gate that never fires is refused. */
function noteUnused({ value, source }: RunText, gathered: Gathered): void {
  const { gates } = value;
  if (isMap(gates) && gates['baseline'] !== undefined && gates['baseline'] !== null) {
    const message =
      '"gates.baseline" is not checked by a run itself; remove it and run `assay gate RUN --baseline last` after it';
    gathered.problems.push(toProblem(source, { path: ['gates', 'baseline'], at: 'key', message }));
  }
}
