import { toTimeline } from '../client/attempt-timeline.ts';
import { findFault } from '../domain/fault.ts';
import type { AnalysisRow } from '../domain/analysis-row.ts';
import type { Score } from '../domain/score.ts';
import type { TestCase } from '../domain/suite.ts';
import type { Message, ToolCall } from '../domain/transcript.ts';
import { formatAgent } from './format-agent.ts';
import type { TryDetail } from '../store/attempt-detail.ts';
import type { AttemptWarning } from '../store/attempt-warnings.ts';
import { indent, toPrintable } from './format.ts';
import { formatOutcome } from './format-outcome.ts';
import { formatSession } from './format-session.ts';
import type { NamedAttempt } from './show-case.ts';
import { formatHidden, formatTimeline } from './format-timeline.ts';
import type { StepWindow } from './step-window.ts';

export type ShownAttempt = {
  readonly attempt: NamedAttempt;
  readonly testCase: TestCase;
  /** Of the latest try; without the messages that open it, which are the case's. */
  readonly transcript: readonly Message[];
  /** The steps that the transcript holds. */
  readonly window: StepWindow;
};

/** One attempt for people: outcome, scores, what it did and where it failed, case, transcript, and what lies beside. */
export function formatAttempt({ attempt, testCase, transcript, window }: ShownAttempt): string {
  const { key, requestName, modelId, caseId } = attempt;
  const generation = key.generation > 1 ? ` · generation ${key.generation}` : '';
  const argumentTexts = toArgumentTexts(transcript, window);
  const parts = [
    `${toPrintable(`${requestName} / ${modelId} / ${caseId}`)} · attempt ${key.attempt}${generation}\n${formatOutcome(attempt.outcome)}`,
    formatOrigin(attempt),
    section('Scores', formatScores(attempt)),
    section('Timeline', formatTimeline(toTimeline(attempt), { window, argumentTexts })),
    section('Case', formatCase(testCase)),
    section('Transcript', formatTranscript(transcript, window)),
    section('External agent', attempt.agents.map(formatAgent).join('\n')),
    section('Analysis', attempt.analyses.map(formatAnalysis).join('\n')),
    section('Environment', attempt.sessions.map(formatSession).join('\n')),
    section('Discarded tries', attempt.tries.map(formatTry).join('\n')),
    section('Warnings', attempt.warnings.map(formatWarning).join('\n')),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function formatOrigin({ key, origin }: NamedAttempt): string {
  if (origin === null) return '';
  const { runId, attempt, generation, mismatch } = origin;
  if (runId === key.runId)
    return `Its answer is of generation ${generation}: it was graded again, and nothing was run.`;
  const made = mismatch ? ', although it was made in another way (--allow-mismatch)' : '';
  return `Its answer was taken from run ${runId}, attempt ${attempt}${made}; its calls were paid there.`;
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

/** `✗` is the one fault of an attempt that has a score and did not pass. */
function formatScores({ outcome, scores }: NamedAttempt): string {
  const fault = outcome?.kind === 'scored' && !outcome.pass ? findFault(scores) : null;
  return scores.map((score) => `${score === fault ? '✗ ' : ''}${formatScore(score)}`).join('\n');
}

function formatScore({ scorer, verdict, required }: Score): string {
  const value =
    verdict.kind === 'scored'
      ? `${verdict.value.toFixed(2)} ${verdict.pass ? 'pass' : 'fail'}`
      : `unscored (${verdict.code})`;
  return `${scorer}${required ? '' : ' (optional)'}: ${value}  ${toPrintable(verdict.explanation)}`;
}

function formatTranscript(transcript: readonly Message[], window: StepWindow): string {
  const steps = toSteps(transcript, window);
  const messages = transcript.map((message, index) => {
    const isFirst = message.role === 'assistant' && window.total > 1;
    return isFirst ? `step ${steps[index]}\n${indent(formatMessage(message), '  ')}` : formatMessage(message);
  });
  return transcript.length === 0 ? '' : [...formatHidden(window), ...messages].join('\n\n');
}

/** The step of each message: an answer begins one. */
function toSteps(transcript: readonly Message[], { from }: StepWindow): readonly number[] {
  let step = from - 1;
  return transcript.map(({ role }) => (role === 'assistant' ? (step += 1) : step));
}

function toArgumentTexts(transcript: readonly Message[], window: StepWindow): ReadonlyMap<string, string> {
  const steps = toSteps(transcript, window);
  return new Map(
    transcript.flatMap((message, index) =>
      message.role === 'assistant'
        ? message.toolCalls.map(({ arguments: given }, call): [string, string] => [
            `${steps[index]}/${call + 1}`,
            given.kind === 'parsed' ? JSON.stringify(given.value) : given.text,
          ])
        : [],
    ),
  );
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

function formatTry({ tryNumber, late, stage, scope, error }: TryDetail): string {
  const again = scope === 'grading' ? ', graded again' : '';
  const what = late ? 'came after the end of the run' : `failed in ${stage ?? 'an unknown stage'}${again}`;
  return `try ${tryNumber}: ${what}${error === null ? '' : `: ${toPrintable(error)}`}`;
}

const formatAnalysis = ({ analyzer, summary, error }: AnalysisRow): string =>
  `${analyzer}: ${toPrintable(summary ?? `could not be made: ${error}`)}`;

const formatWarning = ({ tryNumber, phase, message }: AttemptWarning): string =>
  `try ${tryNumber}, ${phase}: ${toPrintable(message)}`;
