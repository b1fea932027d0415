import { basename, dirname } from 'node:path';
import type { Suite, SuiteCase } from '../domain/suite.ts';
import { buildCase } from './build-case.ts';
import type { Gathered } from './catalog.ts';
import { checkShape, describe } from './check-shape.ts';
import { listItems, listNamedCases, openCaseFile } from './list-cases.ts';
import type { NamedFile } from './list-cases.ts';
import { toProblem } from './problem.ts';
import type { Place, RawCase } from './raw-case.ts';
import { resolveScorers } from './resolve-scorers.ts';
import type { ScorerEntry } from './shapes.ts';
import { within } from './source.ts';
import type { Source } from './source.ts';
import { caseSchema, suiteHeadSchema } from './suite-file.ts';
import type { SuiteHead } from './suite-file.ts';
import { isMap, settleCase, toText, unwrap } from './written.ts';

/** A suite with the place of each of its cases, for later messages. */
export type LoadedSuite = {
  readonly suite: Suite;
  /** In the order of `suite.cases`. */
  readonly places: readonly Place[];
};

/** A suite as a request names it. */
export type SuiteRef =
  | { readonly kind: 'file'; readonly file: NamedFile }
  | { readonly kind: 'inline'; readonly value: unknown; readonly name: string; readonly folder: NamedFile };

type Loading = { readonly from: Source; readonly gathered: Gathered };

/** Stops reading a list of cases that is wrong throughout. */
const MAX_PROBLEMS = 1000;

/** `support.suite.yaml` -> `support`. */
export const toStem = (path: string): string =>
  basename(path)
    .replace(/\.[^.]+$/, '')
    .replace(/\.(suite|run|cases)$/, '') || 'suite';

/** Reads a suite whole. Problems are gathered; null when nothing could be read. */
export function loadSuite(ref: SuiteRef, loading: Loading): LoadedSuite | null {
  if (ref.kind === 'inline') {
    return readSuite(
      ref.value,
      { source: loading.from, folder: ref.folder, name: ref.name },
      loading.gathered,
    );
  }
  const { file } = ref;
  const name = toStem(file.path);
  const opened = openCaseFile(file, loading);
  if (opened.kind === 'failed') return null;
  if (opened.kind === 'cases')
    return readList({ name, source: loading.from }, opened.cases, loading.gathered);
  const { source, value } = opened.document;
  const folder = { path: dirname(file.path), shown: dirname(file.shown) };
  if (Array.isArray(value)) {
    return readList({ name, source }, listItems(value, source, folder.path), loading.gathered);
  }
  return readSuite(value, { source, folder, name }, loading.gathered);
}

type Setting = { readonly source: Source; readonly folder: NamedFile; readonly name: string };

function readList(
  { name, source }: { name: string; source: Source },
  cases: Iterable<RawCase>,
  gathered: Gathered,
): LoadedSuite {
  const head: SuiteHead = { cases: [] };
  return readCases({ head, name, scorers: null, source }, cases, gathered);
}

function readSuite(value: unknown, setting: Setting, gathered: Gathered): LoadedSuite | null {
  const { source, folder } = setting;
  if (!isMap(value)) {
    const message = `expected a suite (a map with "cases") or a list of cases, got ${describe(value)}`;
    gathered.problems.push(toProblem(source, { path: [], message }));
    return null;
  }
  const head = checkShape(suiteHeadSchema, settleHead(value), { source, problems: gathered.problems });
  if (head === null) return null;
  const name = head.name ?? setting.name;
  const scorers = head.scorers === undefined ? null : resolveHeadScorers(head.scorers, setting, gathered);
  return readCases(
    { head, name, scorers, source },
    listAll(value['cases'], { source, folder, gathered }),
    gathered,
  );
}

const resolveHeadScorers = (entries: readonly ScorerEntry[], setting: Setting, gathered: Gathered) =>
  resolveScorers(entries, {
    source: within(setting.source, ['scorers']),
    baseDir: setting.folder.path,
    gathered,
  });

const EXACT: readonly ScorerEntry[] = ['exact'];

/** Everything but the cases, with the text of scalars where text belongs. */
function settleHead(value: { readonly [key: string]: unknown }): unknown {
  const { name, version, cases, ...rest } = value;
  const settled = Object.entries(rest).map(([key, item]) => [
    key,
    key === 'defaults' ? settleCase(item) : unwrap(item),
  ]);
  return {
    ...Object.fromEntries(settled),
    ...(name === undefined ? {} : { name: toText(name) }),
    ...(version === undefined ? {} : { version: toText(version) }),
    ...(cases === undefined ? {} : { cases }),
  };
}

type Listing = { readonly source: Source; readonly folder: NamedFile; readonly gathered: Gathered };

/** Cases in place, and those of the named files, in the order of the list. */
function* listAll(cases: unknown, { source, folder, gathered }: Listing): Generator<RawCase> {
  const list = within(source, ['cases']);
  if (typeof cases === 'string') yield* listNamedCases(cases, folder, { from: list, gathered });
  if (!Array.isArray(cases)) return;
  for (const [index, item] of cases.entries()) {
    const from = within(list, [index]);
    if (typeof item === 'string') {
      yield* listNamedCases(item, folder, { from, gathered });
    } else {
      const place = { file: from.file, line: from.locate([], 'value')?.line ?? null };
      yield { value: item, source: () => from, place, baseDir: folder.path };
    }
  }
}

type Reading = {
  readonly head: SuiteHead;
  readonly name: string;
  /** Null when the suite names none. */
  readonly scorers: Suite['scorers'] | null;
  readonly source: Source;
};

function readCases(reading: Reading, raws: Iterable<RawCase>, gathered: Gathered): LoadedSuite {
  const { head, name, scorers, source } = reading;
  const before = gathered.problems.length;
  const cases: SuiteCase[] = [];
  const places: Place[] = [];
  const firstPlaces = new Map<string, Place>();
  let position = 0;
  for (const raw of raws) {
    position += 1;
    const found = readCase(raw, { head, position, gathered });
    if (found !== null && isNew(found.testCase.id, { raw, firstPlaces, gathered })) {
      cases.push(found);
      places.push(raw.place);
    }
    if (gathered.problems.length - before > MAX_PROBLEMS) break;
  }
  if (cases.length === 0 && gathered.problems.length === before) {
    const message = `suite "${name}" has no cases`;
    gathered.problems.push(toProblem(source, { path: [], message }));
  }
  const ownScorers = scorers ?? toDefaultScorers(cases, reading, gathered);
  return { suite: { name, version: head.version ?? null, scorers: ownScorers, cases }, places };
}

/** Where neither the suite nor a case names a scorer, the answer is compared with the target, aloud. */
function toDefaultScorers(
  cases: readonly SuiteCase[],
  { name, source }: Reading,
  gathered: Gathered,
): Suite['scorers'] {
  if (cases.every(({ testCase }) => testCase.scorers !== null)) return [];
  gathered.warnings.push(`suite "${name}" names no scorers: "exact" is used`);
  return resolveScorers(EXACT, { source, baseDir: '.', gathered });
}

type One = { readonly head: SuiteHead; readonly position: number; readonly gathered: Gathered };

/** Null when the case is skipped or wrong. */
function readCase(raw: RawCase, { head, position, gathered }: One): SuiteCase | null {
  const value = settleCase(raw.value);
  const quick = caseSchema.safeParse(value);
  const source = quick.success ? lazySource(raw) : raw.source();
  const entry = quick.success
    ? quick.data
    : checkShape(caseSchema, value, { source, problems: gathered.problems });
  if (entry === null || entry.skip === true) return null;
  const setting = { source, baseDir: raw.baseDir, gathered, prompt: head.prompt };
  return buildCase(entry, { ...setting, defaults: head.defaults ?? {}, position });
}

/** The source of a case that is most likely right: made at the first question. */
function lazySource(raw: RawCase): Source {
  let made: Source | null = null;
  const source = (): Source => (made ??= raw.source());
  return {
    file: raw.place.file,
    get prefix() {
      return source().prefix;
    },
    get secrets() {
      return source().secrets;
    },
    locate: (path, at) => source().locate(path, at),
    lineText: (line) => source().lineText(line),
  };
}

type Seen = {
  readonly raw: RawCase;
  readonly firstPlaces: Map<string, Place>;
  readonly gathered: Gathered;
};

function isNew(id: string, { raw, firstPlaces, gathered }: Seen): boolean {
  const first = firstPlaces.get(id);
  if (first === undefined) {
    firstPlaces.set(id, raw.place);
    return true;
  }
  const where = first.line === null ? first.file : `${first.file}:${first.line}`;
  const message = `the id ${JSON.stringify(id)} is already that of the case at ${where}`;
  gathered.problems.push(toProblem(raw.source(), { path: ['id'], message }));
  return false;
}
