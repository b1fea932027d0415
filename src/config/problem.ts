import { maskKeys } from './literal-keys.ts';
import type { Source } from './source.ts';

/** Steps from the top of a file to a field: names of keys and indices of lists. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a file, with everything that a person needs to mend it. */
export type Problem = {
  /** The file as the user named it. */
  readonly file: string;
  /** From 1; null where the input has no lines (a document handed in by a program). */
  readonly line: number | null;
  readonly column: number | null;
  /** The field, such as `requests[0].harness.maxSteps`; empty for the file as a whole. */
  readonly path: string;
  readonly expected: string | null;
  readonly got: string | null;
  /** The nearest known name, or null. */
  readonly suggestion: string | null;
  /** The whole problem in one sentence, without the place. */
  readonly message: string;
  /** The line of the file, keys masked; null where there is none. */
  readonly excerpt: string | null;
};

/** What a check says; the place comes from the source. */
export type Finding = {
  readonly path: Path;
  /** Point at the key instead of its value. */
  readonly at?: 'key' | 'value';
  readonly message: string;
  readonly expected?: string | null;
  readonly got?: string | null;
  readonly suggestion?: string | null;
};

/** Everything that was wrong, in one throw. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(formatProblems(problems));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export function toProblem(source: Source, finding: Finding): Problem {
  const position = source.locate(finding.path, finding.at ?? 'value');
  const line = position === null ? null : source.lineText(position.line);
  const mask = (text: string): string => maskKeys(text, source.secrets);
  return {
    file: source.file,
    line: position?.line ?? null,
    column: position?.column ?? null,
    path: formatPath([...source.prefix, ...finding.path]),
    expected: finding.expected ?? null,
    got: finding.got === undefined || finding.got === null ? null : mask(finding.got),
    suggestion: finding.suggestion ?? null,
    message: mask(finding.message),
    excerpt: line === null ? null : mask(line),
  };
}

/** `requests[0].limits["odd key"]` */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

const MAX_SHOWN = 50;

/** One paragraph a problem (the first 50): place, sentence, suggestion, and the line with a caret below. */
export function formatProblems(problems: readonly Problem[]): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const rest = problems.length - MAX_SHOWN;
  const shown = problems.slice(0, MAX_SHOWN).map(formatProblem);
  return [`${count} found:`, ...shown, ...(rest > 0 ? [`... and ${rest} more.`] : [])].join('\n\n');
}

function formatProblem(problem: Problem): string {
  const place = [problem.file, problem.line, problem.line === null ? null : problem.column]
    .filter((part) => part !== null)
    .join(':');
  const field = problem.path === '' ? '' : `  ${problem.path}`;
  const lines = [`${place}${field}`, `  ${problem.message}`];
  if (problem.suggestion !== null) lines.push(`  Did you mean "${problem.suggestion}"?`);
  lines.push(...formatExcerpt(problem));
  return lines.join('\n');
}

const EXCERPT_WIDTH = 96;

function formatExcerpt({ excerpt, line, column }: Problem): readonly string[] {
  if (excerpt === null || line === null || excerpt.trim() === '') return [];
  const at = (column ?? 1) - 1;
  const start = at > EXCERPT_WIDTH - 16 ? at - EXCERPT_WIDTH / 2 : 0;
  const shown = toPrintable(excerpt.slice(start, start + EXCERPT_WIDTH));
  const gutter = `  ${line} | `;
  if (column === null) return [`${gutter}${shown}`];
  return [`${gutter}${shown}`, `${' '.repeat(gutter.length - 2)}| ${' '.repeat(at - start)}^`];
}

/** Control characters would move the caret or the terminal. */
const toPrintable = (text: string): string => text.replace(/\p{Cc}/gu, ' ');

/** The first file first, the others in order of appearance, each by place. */
export function sortProblems(problems: readonly Problem[], firstFile: string): readonly Problem[] {
  const files = [...new Set([firstFile, ...problems.map((problem) => problem.file)])];
  return problems.toSorted(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
}
