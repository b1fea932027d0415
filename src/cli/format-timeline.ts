import type { Timeline, TimelineEvent } from '../client/attempt-timeline.ts';
import { toDurationText } from '../reports/figure-text.ts';
import { countOf, formatUsd, toPrintable } from './format.ts';
import type { StepWindow } from './step-window.ts';
import { formatTextTable } from './text-table.ts';

/** Texts by `step/call`: the arguments of tool calls, where they were loaded. */
export type ToolArgumentTexts = ReadonlyMap<string, string>;

/**
 * What an attempt did, a line each in order of time, within the steps of the window: `✗` is what ended it, `!` another
 * thing that failed.
 */
export function formatTimeline(
  timeline: Timeline,
  { window, argumentTexts }: { readonly window: StepWindow; readonly argumentTexts: ToolArgumentTexts },
): string {
  const shown = timeline.events.filter(
    ({ step }) => step === null || (step >= window.from && step <= window.to) || step > window.total,
  );
  if (shown.length === 0) return '';
  const startMs = Math.min(...timeline.events.slice(0, 1).map(toStartMs));
  const tries = new Set(timeline.events.map(({ tryNumber }) => tryNumber)).size;
  const table = formatTextTable({
    heads: [
      '',
      'at',
      'took',
      'waited',
      ...(tries > 1 ? ['try'] : []),
      'step',
      'what',
      'tokens',
      'cost',
      'end',
    ],
    rows: shown.map((event) => [
      event.isFault ? '✗' : event.failed ? '!' : '',
      toDurationText(Date.parse(event.at) - startMs),
      event.tookMs === null ? '' : toDurationText(event.tookMs),
      // What is below a tenth of a second is no wait that anybody feels.
      event.waitedMs === null || event.waitedMs < 100 ? '' : toDurationText(event.waitedMs),
      ...(tries > 1 ? [String(event.tryNumber)] : []),
      event.step === null ? '' : String(event.step),
      describeEvent(event, argumentTexts),
      toTokens(event),
      toCost(event),
      toEnd(event),
    ]),
    right: tries > 1 ? [1, 2, 3, 4, 5] : [1, 2, 3, 4],
  });
  return [formatTotals(timeline), ...formatHidden(window), table].join('\n');
}

/** `42s: 30s in 12 model calls, 8s in 11 tool calls, 4s of waits; $0.01` */
function formatTotals(timeline: Timeline): string {
  const { tookMs, modelMs, toolMs, waitedMs, modelCalls, toolCalls, costUsd } = timeline;
  const parts = [
    ...(modelCalls > 0 ? [`${toDurationText(modelMs)} in ${countOf(modelCalls, 'model call')}`] : []),
    ...(toolCalls > 0 ? [`${toDurationText(toolMs)} in ${countOf(toolCalls, 'tool call')}`] : []),
    ...(waitedMs >= 100 ? [`${toDurationText(waitedMs)} of waits for slots, rates, budget and retries`] : []),
  ];
  const cost = modelCalls > 0 ? `; ${formatUsd(costUsd)}` : '';
  return `${toDurationText(tookMs)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}${cost}`;
}

/** Says which steps are left out. */
export function formatHidden({ from, to, total }: StepWindow): readonly string[] {
  if (from <= 1 && to >= total) return [];
  return [`steps ${from} to ${to} of ${total}; others with --steps FROM-TO`];
}

function describeEvent({ kind, name, index, step, state }: TimelineEvent, texts: ToolArgumentTexts): string {
  switch (kind) {
    case 'opened':
      return `opens ${name}`;
    case 'closed':
      return `closes ${name}`;
    case 'agent':
      return `external agent`;
    case 'model':
      return `${name === 'agent' ? 'model' : name}${index === null ? '' : `, request ${index}`}`;
    case 'tool':
      return shorten(`${name} ${texts.get(`${step}/${index}`) ?? ''}`.trim(), 48);
    case 'try':
      return `try ${state === 'late' ? '' : `${name}, `}${state}`;
  }
}

const toTokens = ({ kind, isFree, inputTokens, outputTokens }: TimelineEvent): string =>
  kind !== 'model' || isFree ? '' : `${inputTokens ?? '?'} > ${outputTokens ?? '?'}`;

const toCost = ({ kind, isFree, costUsd, estimated }: TimelineEvent): string =>
  kind !== 'model' || isFree ? '' : `${formatUsd(costUsd)}${estimated ? ' (worst case)' : ''}`;

function toEnd({ kind, state, note }: TimelineEvent): string {
  const text = toPrintable(note ?? '').replaceAll(/\s+/g, ' ');
  if (kind === 'try' || (kind === 'model' && state === 'completed')) return shorten(text, 100);
  return shorten(text === '' ? state : `${state}: ${text}`, 100);
}

function shorten(text: string, length: number): string {
  const flat = toPrintable(text).replaceAll(/\s+/g, ' ');
  return flat.length <= length ? flat : `${flat.slice(0, length - 1).toWellFormed()}…`;
}

const toStartMs = ({ at, waitedMs }: TimelineEvent): number => Date.parse(at) - (waitedMs ?? 0);
