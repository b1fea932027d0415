import type { AnalysisRow } from '../domain/analysis-row.ts';
import type { Score } from '../domain/score.ts';
import type { TestCase } from '../domain/suite.ts';
import type { Message, ToolCall } from '../domain/transcript.ts';
import { formatAgent } from './format-agent.ts';
import type { CallDetail, ToolCallDetail, TryDetail } from '../store/attempt-detail.ts';
import type { AttemptWarning } from '../store/attempt-warnings.ts';
import { formatDuration, formatUsd, indent, toPrintable } from './format.ts';
import { formatOutcome } from './format-outcome.ts';
import { formatSession } from './format-session.ts';
import type { NamedAttempt } from './show-case.ts';
import { formatTextTable } from './text-table.ts';

export type ShownAttempt = {
  readonly attempt: NamedAttempt;
  readonly testCase: TestCase;
  /** Of the latest try; without the messages that open it, which are the case's. */
  readonly transcript: readonly Message[];
};

/** One attempt for people: outcome, scores, case, transcript, calls, tools, discarded tries. */
export function formatAttempt({ attempt, testCase, transcript }: ShownAttempt): string {
  const { key, requestName, modelId, caseId } = attempt;
  const generation = key.generation > 1 ? ` · generation ${key.generation}` : '';
  const parts = [
    `${requestName} / ${modelId} / ${caseId} · attempt ${key.attempt}${generation}\n${formatOutcome(attempt.outcome)}`,
    section('Scores', attempt.scores.map(formatScore).join('\n')),
    section('Case', formatCase(testCase)),
    section('Transcript', transcript.map(formatMessage).join('\n\n')),
    section('Model calls', attempt.calls.length === 0 ? '' : formatCalls(attempt.calls)),
    section('Tool calls', attempt.toolCalls.length === 0 ? '' : formatTools(attempt.toolCalls)),
    section('External agent', attempt.agents.map(formatAgent).join('\n')),
    section('Analysis', attempt.analyses.map(formatAnalysis).join('\n')),
    section('Environment', attempt.sessions.map(formatSession).join('\n')),
    section('Discarded tries', attempt.tries.map(formatTry).join('\n')),
    section('Warnings', attempt.warnings.map(formatWarning).join('\n')),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const section = (title: string, body: string): string =>
  body === '' ? '' : `${title}\n${indent(body, '  ')}`;

function formatCase({ system, input, choices, files, setup }: TestCase): string {
  const messages = input.kind === 'text' ? [{ role: 'user', text: input.text }] : input.messages;
  return [
    ...(system === null ? [] : [titled('system', system)]),
    ...messages.map(({ role, text }) => titled(role, text)),
    ...(choices === null ? [] : [titled('choices', choices.join('\n'))]),
    ...(Object.keys(files).length === 0 ? [] : [titled('files', Object.keys(files).join('\n'))]),
    ...(setup === null ? [] : [titled('setup', setup)]),
  ].join('\n');
}

function formatScore({ scorer, verdict, required }: Score): string {
  const value =
    verdict.kind === 'scored'
      ? `${verdict.value.toFixed(2)} ${verdict.pass ? 'pass' : 'fail'}`
      : `unscored (${verdict.code})`;
  return `${scorer}${required ? '' : ' (optional)'}: ${value}  ${toPrintable(verdict.explanation)}`;
}

function formatMessage(message: Message): string {
  switch (message.role) {
    case 'system':
    case 'user':
      return titled(message.role, message.text);
    case 'assistant': {
      const reasoning = message.reasoning === null ? [] : [titled('reasoning', message.reasoning)];
      const text =
        message.text === '' && message.toolCalls.length > 0
          ? []
          : [titled('assistant', message.text || '(empty)')];
      return [...reasoning, ...text, ...message.toolCalls.map(formatToolCall)].join('\n');
    }
    case 'tool':
      return titled(`tool ${message.toolName}, ${message.status}`, message.text);
  }
}

const titled = (title: string, text: string): string => `${title}\n${indent(toPrintable(text), '  ')}`;

function formatToolCall({ name, arguments: given }: ToolCall): string {
  if (given.kind === 'unreadable') return titled(`calls ${name}`, `unreadable arguments: ${given.text}`);
  const repaired = given.writtenAs === undefined ? '' : `\nrepaired from: ${given.writtenAs}`;
  return titled(`calls ${name}`, `${JSON.stringify(given.value)}${repaired}`);
}

const formatCalls = (calls: readonly CallDetail[]): string =>
  formatTextTable({
    heads: ['purpose', 'try', 'step', 'request', 'state', 'in', 'out', 'cost', 'took', 'waited', 'end'],
    rows: calls.map((call) => [
      call.purpose,
      String(call.tryNumber),
      String(call.step),
      String(call.requestNumber),
      call.state,
      toFigure(call.inputTokens),
      toFigure(call.outputTokens),
      `${formatUsd(call.costUsd)}${call.estimated ? ' (worst case)' : ''}`,
      toTime(call.latencyMs),
      toTime(call.waitedMs),
      toPrintable(call.failureMessage ?? call.finishReason ?? '').replaceAll('\n', ' '),
    ]),
    right: [1, 2, 3, 5, 6, 7, 8, 9],
  });

const formatTools = (calls: readonly ToolCallDetail[]): string =>
  formatTextTable({
    heads: ['tool', 'try', 'step', 'call', 'state', 'status', 'executions', 'arguments'],
    rows: calls.map((call) => [
      call.tool,
      String(call.tryNumber),
      String(call.step),
      String(call.call),
      call.state,
      call.status ?? '',
      String(call.executions),
      call.repaired ? 'repaired' : '',
    ]),
    right: [1, 2, 3, 6],
  });

function formatTry({ tryNumber, late, stage, scope, error }: TryDetail): string {
  const again = scope === 'grading' ? ', graded again' : '';
  const what = late ? 'came after the end of the run' : `failed in ${stage ?? 'an unknown stage'}${again}`;
  return `try ${tryNumber}: ${what}${error === null ? '' : `: ${toPrintable(error)}`}`;
}

const formatAnalysis = ({ analyzer, summary, error }: AnalysisRow): string =>
  `${analyzer}: ${toPrintable(summary ?? `could not be made: ${error}`)}`;

const formatWarning = ({ tryNumber, phase, message }: AttemptWarning): string =>
  `try ${tryNumber}, ${phase}: ${toPrintable(message)}`;

const toFigure = (value: number | null): string => (value === null ? '?' : String(value));

const toTime = (durationMs: number | null): string =>
  durationMs === null ? '' : durationMs < 10_000 ? `${Math.round(durationMs)}ms` : formatDuration(durationMs);
