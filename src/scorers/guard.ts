import type { JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { unscored } from './verdict.ts';

export type GuardSettings = {
  /** The name of the scorer in its case. */
  readonly name: string;
  /** Null = none: the scorer has its own limits. */
  readonly timeoutMs: number | null;
};

const LOCAL_TIMEOUT_MS = 5_000;
const EXPLANATION_LIMIT = 2_000;

/**
 * Runs a scorer so that its faults stay in its own cell: a throw, a time-out, or a verdict outside the contract
 * (type, NaN, range, a pass that contradicts value and threshold) is `unscored` and names the scorer.
 * @throws the reason of `input.signal` when the caller cancels: that is no verdict.
 */
export async function runScorer(
  scorer: Scorer,
  input: ScoreInput,
  settings: GuardSettings = toDefaults(scorer),
): Promise<ScorerVerdict> {
  const timer = new AbortController();
  const signal = AbortSignal.any([input.signal, timer.signal]);
  const timeout = waitFor(settings, timer);
  try {
    input.signal.throwIfAborted();
    const answer: unknown = await Promise.race([scorer.score({ ...input, signal }), timeout.promise]);
    return checkVerdict(answer, { name: settings.name, threshold: input.threshold });
  } catch (error) {
    input.signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    if (timer.signal.aborted) return unscored('time_out', cut(`scorer ${settings.name}: ${message}`));
    return unscored('scorer_failed', cut(`scorer ${settings.name} failed: ${message}`));
  } finally {
    timeout.clear();
  }
}

const toDefaults = (scorer: Scorer): GuardSettings => ({
  name: scorer.kind,
  timeoutMs: scorer.place === 'local' ? LOCAL_TIMEOUT_MS : null,
});

function waitFor({ timeoutMs }: GuardSettings, timer: AbortController) {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => null);
  if (timeoutMs === null) return { promise, clear: () => undefined };
  const handle = setTimeout(() => {
    const error = new Error(`gave no verdict in ${timeoutMs / 1000} s, its limit (phase evaluate)`);
    timer.abort(error);
    reject(error);
  }, timeoutMs);
  return { promise, clear: () => clearTimeout(handle) };
}

type Contract = { readonly name: string; readonly threshold: number };

/** A verdict as the contract wants it; anything else becomes `unscored` with what was wrong. */
export function checkVerdict(answer: unknown, { name, threshold }: Contract): ScorerVerdict {
  const problem = findProblem(answer, threshold);
  if (problem !== null) {
    return unscored('contract', cut(`scorer ${name} broke its contract: ${problem}`));
  }
  const verdict = answer as ScorerVerdict;
  if (verdict.kind === 'scored') return { ...verdict, explanation: cut(verdict.explanation) };
  const prefix = `scorer ${name}`;
  const isNamed = verdict.explanation.startsWith(prefix);
  return {
    ...verdict,
    explanation: cut(isNamed ? verdict.explanation : `${prefix}: ${verdict.explanation}`),
  };
}

function findProblem(answer: unknown, threshold: number): string | null {
  if (!isRecord(answer)) return `a verdict was expected, got ${show(answer)}`;
  if (typeof answer['explanation'] !== 'string')
    return `explanation must be a text, got ${show(answer['explanation'])}`;
  if (answer['kind'] === 'unscored') return typeof answer['code'] === 'string' ? null : 'code must be a text';
  if (answer['kind'] !== 'scored') return `kind must be scored or unscored, got ${show(answer['kind'])}`;
  const value = answer['value'];
  if (typeof value !== 'number') return `value must be a number, got ${show(value)}`;
  if (!(value >= 0 && value <= 1)) return `value must lie in 0..1, got ${value}`;
  if (answer['pass'] !== value >= threshold) {
    return `pass is ${show(answer['pass'])} at value ${value} and threshold ${threshold}`;
  }
  return isPlainJson(answer['metrics']) ? null : 'metrics must be an object of plain JSON';
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function isPlainJson(value: unknown): value is JsonObject {
  if (!isRecord(value) || Array.isArray(value)) return false;
  const isPlain = (item: unknown): boolean => {
    if (item === null || typeof item === 'string' || typeof item === 'boolean') return true;
    if (typeof item === 'number') return Number.isFinite(item);
    return isRecord(item) && Object.values(item).every(isPlain);
  };
  return isPlain(value);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 60))}`;
  return isRecord(value) ? 'an object' : String(value);
}

const cut = (text: string): string =>
  text.length <= EXPLANATION_LIMIT ? text : `${text.slice(0, EXPLANATION_LIMIT - 1)}…`;
