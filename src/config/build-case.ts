import { resolve } from 'node:path';
import type { AttemptLimits, CaseInput, SuiteCase, Target, TargetValue } from '../domain/suite.ts';
import type { Gathered } from './catalog.ts';
import { keepFile } from './digest.ts';
import { fillPrompt } from './fill-prompt.ts';
import { toProblem } from './problem.ts';
import type { Finding, Path } from './problem.ts';
import { readBytes } from './read-file.ts';
import { resolveScorers } from './resolve-scorers.ts';
import { findPathProblem } from './session-path.ts';
import { within } from './source.ts';
import type { Source } from './source.ts';
import type { CaseDefaults, CaseEntry, SuiteHead } from './suite-file.ts';

/** Where a case stands and what its suite says for all of them. */
export type CaseSetting = {
  readonly source: Source;
  readonly baseDir: string;
  readonly gathered: Gathered;
  readonly prompt: SuiteHead['prompt'];
  readonly defaults: CaseDefaults;
  /** From 1, before any shuffle or selection. */
  readonly position: number;
};

/** A checked entry as a case with its target; null when a problem was found in it. */
export function buildCase(given: CaseEntry, setting: CaseSetting): SuiteCase | null {
  const entry = withDefaults(given, setting.defaults);
  const id = toId(given, setting);
  const input = toInput(given, entry, setting);
  if (input === null || id === null) return null;
  return {
    testCase: {
      id,
      input,
      system: entry.system ?? null,
      choices: entry.choices ?? null,
      tags: entry.tags ?? [],
      weight: entry.weight ?? 1,
      cluster: entry.cluster ?? null,
      files: readCaseFiles(entry, setting),
      setup: entry.setup ?? null,
      scorers: toScorers(given, setting),
      limits: entry.limits === undefined ? null : toLimits(entry.limits, null),
      metadata: entry.metadata ?? {},
    },
    target: toTarget(given.target),
  };
}

/** A case's own fields win; `files`, `limits`, `metadata` and `vars` are joined key by key. */
function withDefaults(given: CaseEntry, defaults: CaseDefaults): CaseEntry {
  const joined = {
    ...defaults,
    ...given,
    ...(given.files && defaults.files ? { files: { ...defaults.files, ...given.files } } : {}),
    ...(given.limits && defaults.limits ? { limits: { ...defaults.limits, ...given.limits } } : {}),
    ...(given.metadata && defaults.metadata ? { metadata: { ...defaults.metadata, ...given.metadata } } : {}),
    ...(given.vars && defaults.vars ? { vars: { ...defaults.vars, ...given.vars } } : {}),
  };
  return joined;
}

function report(setting: CaseSetting, finding: Finding): null {
  setting.gathered.problems.push(toProblem(setting.source, finding));
  return null;
}

function toId({ id }: CaseEntry, setting: CaseSetting): string | null {
  if (id === undefined) return String(setting.position);
  if (id.trim() === '') return report(setting, { path: ['id'], message: 'an id cannot be empty' });
  if (id !== id.trim()) {
    const message = `an id cannot begin or end with white space: ${JSON.stringify(id)}`;
    return report(setting, { path: ['id'], message, suggestion: id.trim() });
  }
  return id;
}

type Prompt = Exclude<CaseEntry['input'], undefined>;

function toInput(given: CaseEntry, entry: CaseEntry, setting: CaseSetting): CaseInput | null {
  const { prompt } = setting;
  if (given.input !== undefined) {
    if (given.vars === undefined) return readPrompt(given.input, ['input'], setting);
    return report(setting, { path: ['vars'], at: 'key', message: 'a case has "input" or "vars", not both' });
  }
  if (entry.vars === undefined) {
    return report(setting, {
      path: [],
      message: `"input" is missing: expected text or a list of messages${prompt === undefined ? '' : ', or "vars" for the prompt'}`,
    });
  }
  if (prompt === undefined) {
    const message = '"vars" need a "prompt" at the top of the suite with {{names}} to fill';
    return report(setting, { path: ['vars'], at: 'key', message });
  }
  const { vars } = entry;
  const texts = typeof prompt === 'string' ? [prompt] : prompt.map((message) => message.content);
  const filled = texts.map((text) => fillPrompt(text, vars));
  const missing = filled.flatMap((part) => (part.kind === 'missing' ? part.names : []));
  for (const { name, nearest } of missing) {
    const message = `the prompt has {{${name}}}, and this case has no such var`;
    report(setting, { path: ['vars'], message, suggestion: nearest });
  }
  if (missing.length > 0) return null;
  const ready = filled.map((part) => (part.kind === 'filled' ? part.text : ''));
  if (typeof prompt === 'string') return { kind: 'text', text: ready[0] ?? '' };
  return readPrompt(
    prompt.map((message, index) => ({ ...message, content: ready[index] ?? '' })),
    [],
    setting,
  );
}

function readPrompt(prompt: Prompt, path: Path, setting: CaseSetting): CaseInput | null {
  if (typeof prompt === 'string') {
    if (prompt !== '') return { kind: 'text', text: prompt };
    return report(setting, { path, message: 'an input cannot be empty' });
  }
  const last = prompt.at(-1);
  if (last?.role !== 'user') {
    const message = `messages must end with one of role "user", this ends with "${last?.role ?? 'nothing'}"`;
    return report(setting, { path: path.length === 0 ? path : [...path, prompt.length - 1], message });
  }
  return { kind: 'messages', messages: prompt.map(({ role, content }) => ({ role, text: content })) };
}

/** null and [] are "no target"; 0, false and "" in a list are targets. */
function toTarget(target: CaseEntry['target']): Target | null {
  if (target === undefined || target === null) return null;
  const values = (Array.isArray(target) ? target : [target]) as readonly TargetValue[];
  return values.length === 0 ? null : { values };
}

function toScorers(given: CaseEntry, setting: CaseSetting) {
  if (given.scorers === undefined) return null;
  const { baseDir, gathered } = setting;
  return resolveScorers(given.scorers, { source: within(setting.source, ['scorers']), baseDir, gathered });
}

/** Limits as written -> domain; `modelCallTimeMs` is what holds when the file says nothing. */
export const toLimits = (
  limits: Exclude<CaseEntry['limits'], undefined>,
  modelCallTimeMs: number | null,
): AttemptLimits => ({
  attemptTimeMs: limits.attemptTime ?? null,
  attemptTokens: limits.attemptTokens ?? null,
  attemptCostUsd: limits.attemptCostUsd ?? null,
  modelCallTimeMs: limits.modelCallTime === undefined ? modelCallTimeMs : limits.modelCallTime,
});

function readCaseFiles(entry: CaseEntry, setting: CaseSetting): { readonly [path: string]: string } {
  const digests: { [path: string]: string } = {};
  for (const [path, content] of Object.entries(entry.files ?? {})) {
    const at: Path = ['files', path];
    const wrong = findPathProblem(path);
    if (wrong !== null) {
      report(setting, { path: at, at: 'key', message: wrong });
    } else if (typeof content === 'string') {
      digests[path] = keepFile(setting.gathered.files, Buffer.from(content, 'utf8'));
    } else {
      const file = readBytes(resolve(setting.baseDir, content.path), content.path);
      if (file.kind === 'read') digests[path] = keepFile(setting.gathered.files, file.bytes);
      else report(setting, { path: [...at, 'path'], message: file.message, suggestion: file.suggestion });
    }
  }
  return digests;
}
