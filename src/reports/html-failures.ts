import { redactPatterns } from '../domain/redact.ts';
import type { Message } from '../domain/transcript.ts';
import { type Markup, markup } from './markup.ts';
import { describeFailure } from './report-words.ts';
import type { Failure } from './report-schema.ts';

/** One failing attempt looked at closely. */
export type FailureDetail = {
  readonly requestName: string | null;
  readonly modelId: string;
  readonly caseId: string;
  readonly attempt: number;
  readonly input: string;
  /** Null = the case has no target. */
  readonly expected: string | null;
  readonly transcript: readonly Message[];
};

/** Failures that the page lists; those after the first stand folded, so that the board is near. */
const LISTED = 200;
const OPEN = 8;

/** What needs a hand first, each with what was expected, what came, and the transcript where it was loaded. */
export function listHtmlFailures(
  failures: readonly Failure[],
  { count, details }: { readonly count: number; readonly details: readonly FailureDetail[] },
): Markup {
  const shown = failures.slice(0, LISTED);
  const hidden = count - shown.length;
  const drawn = shown.map((failure) => drawFailure(failure, details));
  const folded = drawn.slice(OPEN);
  return markup`${drawn.slice(0, OPEN)}
${folded.length === 0 ? null : markup`<details><summary>${folded.length} more</summary>${folded}</details>`}
${hidden > 0 ? markup`<p class="soft">${hidden} more are in the ${count > failures.length ? 'CSV' : 'JSON'} form.</p>` : null}`;
}

function drawFailure(failure: Failure, details: readonly FailureDetail[]): Markup {
  const { outcome, where, cells, message, examples } = describeFailure(failure);
  const example = failure.examples[0];
  const detail = details.find(
    (one) =>
      one.modelId === failure.modelId &&
      one.caseId === example?.caseId &&
      one.attempt === example.attempt &&
      (failure.requestName === null || one.requestName === failure.requestName),
  );
  return markup`<details><summary><span class="tag ${failure.outcome === 'wrong' ? 'fail' : 'none'}">${outcome}</span> ${where} · ${cells}<br>${message}</summary>
${examples === null ? null : markup`<p class="soft">${examples}</p>`}
${detail === undefined ? drawAnswer(failure) : drawDetail(detail)}</details>`;
}

const drawAnswer = ({ answerPreview }: Failure): Markup | null =>
  answerPreview === null ? null : markup`<p>came:</p><pre>${answerPreview}</pre>`;

function drawDetail({ input, expected, transcript }: FailureDetail): Markup {
  return markup`<p>asked:</p><pre>${cut(input)}</pre>
${expected === null ? null : markup`<p>expected:</p><pre>${cut(expected)}</pre>`}
<p>came:</p>${transcript.length === 0 ? markup`<p class="soft">nothing</p>` : transcript.map(drawMessage)}`;
}

function drawMessage(message: Message): Markup {
  switch (message.role) {
    case 'system':
    case 'user':
      return markup`<p class="soft">${message.role}</p><pre>${cut(message.text)}</pre>`;
    case 'assistant': {
      const calls = message.toolCalls.map(({ name, arguments: given }) => {
        const text = given.kind === 'parsed' ? JSON.stringify(given.value) : given.text;
        return markup`<pre>${name} ${cut(text)}</pre>`;
      });
      return markup`<p class="soft">assistant</p>${message.text === '' ? null : markup`<pre>${cut(message.text)}</pre>`}${calls}`;
    }
    case 'tool':
      return markup`<p class="soft">${message.toolName}: ${message.status}</p><pre>${cut(message.text)}</pre>`;
  }
}

const MOST_CHARACTERS = 10_000;

function cut(text: string): string {
  const shown = redactPatterns(text);
  if (shown.length <= MOST_CHARACTERS) return shown;
  const half = MOST_CHARACTERS / 2;
  return `${shown.slice(0, half)}\n… ${shown.length - MOST_CHARACTERS} characters left out …\n${shown.slice(-half)}`;
}
