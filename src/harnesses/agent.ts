import type { HarnessSpec } from '../domain/run.ts';
import type { ToolSchema } from '../domain/transcript.ts';
import { findTool, TOOL_NAMES } from '../tools/lookup.ts';
import type { Harness } from './harness.ts';
import { toStartMessages } from './start-messages.ts';

/** Counts up when what models are told changes. */
export const HARNESS_VERSION = 'agent/1';

const SYSTEM_TEXT = `You solve a task by yourself with the tools that you are given. Nobody answers questions in between.
You work in a directory of your own; relative paths start there, and files stay from one tool call to the next.
When a tool reports an error, read it and try another way.
When you have finished, answer without a tool call: that last message is your final answer.`;

/** The tool loop: the model calls tools until it answers without one. */
export const agent: Harness = {
  kind: 'agent',
  version: HARNESS_VERSION,
  startMessages: (testCase) => toStartMessages(testCase, SYSTEM_TEXT),
  listTools,
};

function listTools(spec: HarnessSpec, own: readonly ToolSchema[] = []): readonly ToolSchema[] {
  if (spec.kind !== 'agent') return [];
  return spec.tools.map((name) => {
    const schema = own.find((one) => one.name === name) ?? findTool(name)?.schema;
    if (schema === undefined) throw new Error(`There is no tool "${name}"; tools: ${TOOL_NAMES.join(', ')}.`);
    return schema;
  });
}
