import { scanJson } from './json-scan.ts';

/** The JSON of an answer, with a note on how it was found; or why there is none. */
export type Extracted =
  | { readonly kind: 'found'; readonly value: unknown; readonly note: string | null }
  | { readonly kind: 'absent'; readonly reason: string };

/** Which kind of value is looked for; null = either. */
export type Shape = 'object' | 'array' | null;

type Candidate = { readonly start: number; readonly value: unknown; readonly isFenced: boolean };

/**
 * Finds the JSON of an answer. An answer that is JSON as a whole is taken as it stands. Else the objects and
 * arrays in it are read one by one (never parts of two); those in a fenced block without a language or with
 * `json` come before others, those of the wanted shape before others, and of several the last one counts.
 */
export function extractJson(answer: string, shape: Shape): Extracted {
  const whole = parseStrict(answer);
  if (whole.kind === 'found') return whole;
  const { candidates, isCut } = findCandidates(answer);
  const fenced = candidates.filter((candidate) => candidate.isFenced);
  const pool = preferShape(fenced.length > 0 ? fenced : candidates, shape);
  const last = pool.at(-1);
  if (last === undefined)
    return isCut ? { kind: 'absent', reason: 'the JSON is cut off before its end' } : whole;
  const note = pool.length > 1 ? `the last of ${pool.length} JSON values in the answer` : null;
  return { kind: 'found', value: last.value, note };
}

/** The whole answer as one JSON text (white space around it is allowed). */
export function parseStrict(answer: string): Extracted {
  try {
    return { kind: 'found', value: JSON.parse(answer), note: null };
  } catch {
    const text = answer.trim();
    if (text === '') return { kind: 'absent', reason: 'the answer is empty' };
    const scan = /^[[{]/.test(text) ? scanJson(text, 0) : null;
    if (scan?.kind === 'cut') return { kind: 'absent', reason: 'the JSON is cut off before its end' };
    if (scan?.kind === 'whole') return { kind: 'absent', reason: 'more text follows the JSON' };
    return {
      kind: 'absent',
      reason: scan === null ? 'no JSON in the answer' : 'the answer is not valid JSON',
    };
  }
}

const OPENER = /[[{]/g;

/** Reads from bracket to bracket. What breaks is skipped up to the break: nothing inside broken JSON counts. */
function findCandidates(answer: string): {
  readonly candidates: readonly Candidate[];
  readonly isCut: boolean;
} {
  const fences = findFences(answer);
  const candidates: Candidate[] = [];
  let at = 0;
  for (;;) {
    OPENER.lastIndex = at;
    const start = OPENER.exec(answer)?.index;
    if (start === undefined) return { candidates, isCut: false };
    const scan = scanJson(answer, start);
    if (scan.kind === 'cut') return { candidates, isCut: true };
    if (scan.kind === 'whole') {
      const isFenced = fences.some((fence) => start >= fence.start && start < fence.end);
      candidates.push({ start, value: JSON.parse(answer.slice(start, scan.end)), isFenced });
    }
    at = scan.kind === 'whole' ? scan.end : Math.max(scan.at, start + 1);
  }
}

type Fence = { readonly start: number; readonly end: number };

/** Fenced blocks (CommonMark 4.5: closed by at least as many marks) that may hold JSON. */
function findFences(answer: string): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { mark: string; start: number; isJson: boolean } | null = null;
  let at = 0;
  for (const line of answer.split('\n')) {
    const end = at + line.length + 1;
    const marks = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)/.exec(line);
    const mark = marks?.[1] ?? '';
    if (open === null && mark !== '') {
      open = { mark, start: end, isJson: /^(?:json[c5]?)?$/i.test(marks?.[2] ?? '') };
    } else if (open !== null && mark.startsWith(open.mark) && marks?.[2] === '') {
      if (open.isJson) fences.push({ start: open.start, end: at });
      open = null;
    }
    at = end;
  }
  if (open?.isJson === true) fences.push({ start: open.start, end: answer.length });
  return fences;
}

function preferShape(candidates: readonly Candidate[], shape: Shape): readonly Candidate[] {
  const fitting = candidates.filter(
    ({ value }) => shape === null || Array.isArray(value) === (shape === 'array'),
  );
  return fitting.length > 0 ? fitting : candidates;
}
