import {
  holdsPrompt,
  listPlaceholders,
  PLACEHOLDERS,
  PROXY_PLACEHOLDERS,
  type AnswerSource,
  type CommandHarness,
  type JsonSource,
  type PromptWay,
  type TextSource,
  type UsageFigure,
  type UsageSource,
} from '../domain/command-harness.ts';
import type { Catalog } from './catalog.ts';
import { commandPresetSchema, type CommandEntry, type CommandPreset } from './command-schema.ts';
import { findNearest } from './nearest.ts';
import type { Finding, Path } from './problem.ts';
import { findPathProblem } from './session-path.ts';
import { parseDurationMs } from '../domain/duration.ts';

type Report = (finding: Finding) => void;

/** A command with its preset and every default filled in, or null when it cannot be read. */
export function resolveCommand(entry: CommandEntry, catalog: Catalog, report: Report): CommandHarness | null {
  const preset = findPreset(entry, catalog, report);
  if (preset === 'unknown') return null;
  const whole = { ...preset?.harness, ...entry };
  if (whole.command === undefined) {
    const known = [...(catalog.presets?.keys() ?? [])].join(', ');
    const message = `"command" is missing: give the program with its arguments, or a preset (${known})`;
    report({ path: ['harness'], message });
    return null;
  }
  const proxy = whole.proxy ?? false;
  const harness: CommandHarness = {
    kind: 'command',
    preset: entry.preset ?? null,
    command: toCommand(entry, preset, { command: whole.command, proxy }),
    prompt: toPromptWay(whole.prompt ?? 'argument'),
    variables: toVariables(entry, preset, proxy),
    variablesEnv: { ...preset?.harness.variablesEnv, ...entry.variablesEnv },
    proxy,
    maxTurns: whole.maxTurns ?? null,
    timeoutMs: whole.timeout ?? parseDurationMs('1h'),
    usage: whole.usage === undefined ? null : toUsageSource(whole.usage),
    answer: toAnswerSource(whole.answer ?? 'stdout'),
  };
  checkPlaceholders(harness, report);
  checkNames(harness, report);
  checkPaths(harness, report);
  if (harness.maxTurns !== null && !proxy) {
    const message = "maxTurns is counted by the proxy: set proxy: true, or give the agent's own flag";
    report({ path: ['harness', 'maxTurns'], message });
  }
  return harness;
}

function findPreset(
  entry: CommandEntry,
  { presets }: Catalog,
  report: Report,
): CommandPreset | null | 'unknown' {
  if (entry.preset === undefined) return null;
  const preset = presets?.get(entry.preset);
  if (preset !== undefined) return commandPresetSchema.parse(preset);
  const known = [...(presets?.keys() ?? [])];
  report({
    path: ['harness', 'preset'],
    message: `unknown preset "${entry.preset}"; known: ${known.join(', ')}`,
    expected: known.join(', '),
    got: entry.preset,
    suggestion: findNearest(entry.preset, known),
  });
  return 'unknown';
}

/** A command of one's own takes nothing from the preset's. */
function toCommand(
  entry: CommandEntry,
  preset: CommandPreset | null,
  { command, proxy }: { readonly command: readonly string[]; readonly proxy: boolean },
): readonly string[] {
  if (entry.command !== undefined || preset === null) return [...command, ...(entry.arguments ?? [])];
  const { proxyArguments = [], arguments: own = [] } = preset.harness;
  return [...command, ...(proxy ? proxyArguments : []), ...own, ...(entry.arguments ?? [])];
}

const toVariables = (
  entry: CommandEntry,
  preset: CommandPreset | null,
  proxy: boolean,
): CommandHarness['variables'] => ({
  ...preset?.harness.variables,
  ...(proxy ? preset?.harness.proxyVariables : {}),
  ...entry.variables,
});

const toPromptWay = (given: Exclude<CommandEntry['prompt'], undefined>): PromptWay =>
  typeof given === 'string' ? { kind: given } : { kind: 'file', path: given.file };

const toTextSource = (file: string | undefined): TextSource =>
  file === undefined ? { kind: 'stdout' } : { kind: 'file', path: file };

type Json = { readonly file?: string | undefined; readonly where: { readonly [path: string]: string } };

const toJsonSource = (kind: JsonSource['kind'], { file, where }: Json): JsonSource => ({
  kind,
  from: toTextSource(file),
  where,
});

function toUsageSource(given: Exclude<CommandEntry['usage'], undefined>): UsageSource {
  if ('pattern' in given) {
    const { file, combine, ...patterns } = given.pattern;
    return { source: { kind: 'pattern', from: toTextSource(file) }, patterns: dropAbsent(patterns), combine };
  }
  const [kind, { file, where, combine, ...paths }] =
    'json' in given ? (['json', given.json] as const) : (['json_lines', given.jsonLines] as const);
  const lists = Object.entries(dropAbsent(paths)).map(([figure, place]) => [figure, [place].flat()]);
  return { source: toJsonSource(kind, { file, where }), paths: Object.fromEntries(lists), combine };
}

const dropAbsent = <T>(figures: { readonly [K in UsageFigure]?: T | undefined }): {
  readonly [K in UsageFigure]?: T;
} => Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));

function toAnswerSource(given: Exclude<CommandEntry['answer'], undefined>): AnswerSource {
  if (given === 'stdout') return { kind: 'stdout' };
  if ('file' in given) return { kind: 'file', path: given.file };
  return 'json' in given
    ? { ...toJsonSource('json', given.json), path: given.json.path }
    : { ...toJsonSource('json_lines', given.jsonLines), path: given.jsonLines.path };
}

function checkPlaceholders(harness: CommandHarness, report: Report): void {
  const check = (text: string, path: Path): void => {
    for (const name of listPlaceholders(text)) {
      const problem = findPlaceholderProblem(name, harness);
      if (problem !== null) report({ path, message: problem, suggestion: findNearest(name, PLACEHOLDERS) });
    }
  };
  harness.command.forEach((part, index) => check(part, ['harness', 'command', index]));
  for (const [name, value] of Object.entries(harness.variables)) check(value, ['harness', 'variables', name]);
  if (holdsPrompt(harness.command) && harness.prompt.kind !== 'argument') {
    const message = `the command holds {{prompt}}, and prompt says ${harness.prompt.kind}: keep one of them`;
    report({ path: ['harness', 'prompt'], message });
  }
}

function findPlaceholderProblem(name: string, { proxy, prompt }: CommandHarness): string | null {
  if (!PLACEHOLDERS.some((known) => known === name))
    return `unknown placeholder {{${name}}}; known: ${PLACEHOLDERS.join(', ')}`;
  if (PROXY_PLACEHOLDERS.includes(name) && !proxy)
    return `{{${name}}} is of the recording proxy: set proxy: true, or give the address and the variable yourself`;
  if (name === 'promptFile' && prompt.kind !== 'file')
    return '{{promptFile}} needs prompt: { file: PATH }, the file that the case is written to';
  return null;
}

function checkNames({ variables, variablesEnv }: CommandHarness, report: Report): void {
  for (const [key, names] of [
    ['variables', variables],
    ['variablesEnv', variablesEnv],
  ] as const) {
    for (const name of Object.keys(names)) {
      if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) continue;
      const message = `"${name}" cannot be the name of an environment variable`;
      report({ path: ['harness', key, name], at: 'key', message });
    }
  }
}

function checkPaths({ prompt, usage, answer }: CommandHarness, report: Report): void {
  const answerFrom = 'from' in answer ? answer.from : answer;
  const named = [
    ['prompt', prompt.kind === 'file' ? prompt.path : null],
    ['usage', usage?.source.from.kind === 'file' ? usage.source.from.path : null],
    ['answer', answerFrom.kind === 'file' ? answerFrom.path : null],
  ] as const;
  for (const [key, path] of named) {
    const problem = path === null ? null : findPathProblem(path);
    if (problem !== null) report({ path: ['harness', key], message: problem, got: path ?? '' });
  }
}
