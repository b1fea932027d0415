import type { Analyzer } from './analyzer.ts';

/** Where the time of an attempt went: model calls, tools, and waits for slots, pauses and retries. */
export const timeSpent: Analyzer = {
  name: 'time-spent',
  analyze({ harness, modelCalls, toolCalls }) {
    if (modelCalls.length === 0) return null;
    const modelMs = sum(modelCalls.map(({ latencyMs }) => latencyMs ?? 0));
    const waitedMs = sum(modelCalls.map((call) => call.waitedMs));
    const times = { modelMs, waitedMs };
    const texts = [`${toSeconds(modelMs)} in ${modelCalls.length} model calls`];
    // What an external agent does between its calls nobody sees.
    if (harness !== 'agent') return { summary: [...texts, toWait(waitedMs)].join(', '), facts: times };
    const toolMs = sum(toolCalls.map(({ tookMs }) => tookMs ?? 0));
    texts.push(`${toSeconds(toolMs)} in ${toolCalls.length} tool calls`, toWait(waitedMs));
    return { summary: texts.join(', '), facts: { ...times, toolMs } };
  },
};

const sum = (timesMs: readonly number[]): number =>
  Math.round(timesMs.reduce((total, timeMs) => total + timeMs, 0));

const toSeconds = (timeMs: number): string => `${(timeMs / 1_000).toFixed(1)} s`;

const toWait = (timeMs: number): string => `${toSeconds(timeMs)} waiting`;
