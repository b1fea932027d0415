import { dirname, extname, resolve } from 'node:path';
import type { Gathered } from './catalog.ts';
import { checkShape, describe, omitAt } from './check-shape.ts';
import { findLiteralKeys, isKeyField } from './literal-keys.ts';
import { toStem } from './load-suite.ts';
import { parseText } from './parse-document.ts';
import type { ParsedDocument } from './parse-document.ts';
import { ConfigError, toProblem } from './problem.ts';
import type { Finding } from './problem.ts';
import { readTextBytes } from './read-file.ts';
import { runFileTopSchema } from './run-file.ts';
import type { RunModule } from '../domain/run-module.ts';
import { withDefaults } from './config-file.ts';
import { keepFile } from './digest.ts';
import type { Problem } from './problem.ts';
import { createLineSource, createValueSource } from './source.ts';
import type { Source } from './source.ts';
import { isMap, unwrap } from './written.ts';

/** A run file on disk, or a document that a program hands in. */
export type RunSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'document'; readonly value: unknown; readonly baseDir: string }
  | ({ readonly kind: 'module' } & ModuleSource);

/** The value of a TypeScript run file, read from its bundle. */
export type ModuleSource = {
  readonly path: string;
  readonly source: Source;
  readonly value: unknown;
  /** What was wrong with its tools and scorers. */
  readonly problems: readonly Problem[];
  readonly module: RunModule;
  readonly code: string;
};

/** A run file that is a map of known keys; its parts are still to be checked. */
export type RunText = {
  readonly source: Source;
  readonly baseDir: string;
  /** Name of a run that names itself not. */
  readonly stem: string;
  readonly value: { readonly [key: string]: unknown };
  readonly module: RunModule | null;
};

type Defaults = { readonly [key: string]: unknown };

/**
 * Reads the outermost level of a run file, its project's defaults below it. Throws `ConfigError` when there is
 * nothing to go on with.
 */
export function readRun(from: RunSource, gathered: Gathered, defaults: Defaults = {}): RunText {
  const secrets = new Set<string>();
  const { source, value } = parse(from, { secrets, gathered });
  if (!isMap(value)) {
    const message = `expected a run file (a map with "models" and "suite"), ${value === null ? 'but nothing stands in it' : `got ${describe(value)}`}`;
    throw new ConfigError([toProblem(source, { path: [], message })]);
  }
  if (Object.hasOwn(value, 'cases') && !Object.hasOwn(value, 'models')) {
    const message =
      'this is a suite ("cases"), not a run file: a run file has "models" and names the suite with "suite"';
    throw new ConfigError([toProblem(source, { path: ['cases'], message })]);
  }
  const whole = withDefaults(unwrapOutsideSuites(value), defaults);
  const findings = findLiteralKeys(whole, secrets);
  const plain = dropKeyFields(whole, findings);
  gathered.problems.push(...findings.map((finding) => toProblem(source, finding)));
  checkShape(runFileTopSchema, plain, { source, problems: gathered.problems });
  return {
    source,
    value: plain,
    baseDir: from.kind === 'document' ? from.baseDir : dirname(resolve(from.path)),
    stem: from.kind === 'document' ? 'run' : toStem(from.path),
    module: from.kind === 'module' ? from.module : null,
  };
}

type Parsing = { readonly secrets: Set<string>; readonly gathered: Gathered };

function parse(from: RunSource, { secrets, gathered }: Parsing): ParsedDocument {
  switch (from.kind) {
    case 'file':
      return parseRunFile(from.path, secrets);
    case 'document':
      return toParsed(from.value, secrets);
    case 'module':
      gathered.problems.push(...from.problems);
      keepFile(gathered.files, Buffer.from(from.code));
      return { source: { ...from.source, secrets }, value: from.value, problems: [] };
  }
}

/** What was reported as a credential is not reported again as an unknown key. */
function dropKeyFields(value: RunText['value'], findings: readonly Finding[]): RunText['value'] {
  const fields = findings.filter(({ path }) => isKeyField(String(path.at(-1))));
  const rest = fields.reduce<unknown>((left, { path }) => omitAt(left, path), value);
  return isMap(rest) ? rest : value;
}

function parseRunFile(path: string, secrets: Set<string>): ParsedDocument {
  const fail = (message: string, suggestion: string | null = null): never => {
    const place = { ...createLineSource(path, 1, ''), locate: () => null };
    throw new ConfigError([toProblem(place, { path: [], message, suggestion })]);
  };
  const file = readTextBytes(path, path);
  if (file.kind === 'failed') return fail(file.message, file.suggestion);
  const extension = extname(path).toLowerCase();
  if (!['.yaml', '.yml', '.json'].includes(extension)) {
    return fail(
      `a run file of the kind "${extension}" cannot be read in this version; expected .yaml, .yml, .json or .ts`,
    );
  }
  const syntax = extension === '.json' ? 'json' : 'yaml';
  const parsed = parseText({ file: path, text: file.bytes.toString('utf8'), syntax, secrets });
  if (parsed.problems.length > 0) throw new ConfigError(parsed.problems);
  return parsed;
}

/** A value from a program is checked to be plain JSON by writing and reading it. */
function toParsed(value: unknown, secrets: Set<string>): ParsedDocument {
  const source = createValueSource('(document)', secrets);
  const findings: { path: (string | number)[]; message: string }[] = [];
  const visit = (node: unknown, path: (string | number)[]): void => {
    if (typeof node === 'number' && !Number.isFinite(node)) {
      findings.push({ path, message: `expected a finite number, got ${String(node)}` });
    } else if (typeof node === 'object' && node !== null) {
      for (const [key, item] of Object.entries(node)) {
        visit(item, [...path, Array.isArray(node) ? Number(key) : key]);
      }
    }
  };
  visit(value, []);
  if (findings.length > 0) throw new ConfigError(findings.map((finding) => toProblem(source, finding)));
  return { source, value: structuredClone(value), problems: [] };
}

/** Suites in place keep the written text of their scalars; everything else is plain. */
function unwrapOutsideSuites(value: { readonly [key: string]: unknown }): {
  readonly [key: string]: unknown;
} {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === 'suite') return [key, item];
      if (key !== 'requests' || !Array.isArray(item)) return [key, unwrap(item)];
      return [key, item.map((request) => (isMap(request) ? unwrapOutsideSuites(request) : unwrap(request)))];
    }),
  );
}
