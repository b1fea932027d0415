import { z } from 'zod';
import type { ExecResult } from '../environments/environment.ts';
import { createTool, type SessionContext } from './create-tool.ts';
import type { Tool, ToolResult } from './tool.ts';

const parameters = z.strictObject({
  command: z
    .string()
    .min(1)
    .describe('Shell text, run by bash in the working directory. Nothing is kept between calls but files.'),
  timeout_ms: z
    .int()
    .min(1)
    .max(86_400_000)
    .optional()
    .describe(
      'The command is ended after this time. Default and maximum: what the tool may take, 60000 as a rule.',
    ),
});

/** Runs shell text in the session. A command that fails, times out or cannot start is an observation. */
export const bash: Tool = createTool({
  name: 'bash',
  description:
    'Run a shell command in the working directory. Answers with its output, stdout and stderr together, and its exit code.',
  parameters,
  policy: {},
  run: runBash,
});

async function runBash(args: z.infer<typeof parameters>, context: SessionContext): Promise<ToolResult> {
  const timeoutMs = Math.min(args.timeout_ms ?? context.timeoutMs, context.timeoutMs);
  const request = { command: args.command, timeoutMs, stdin: null, cwd: null, variables: {} };
  const result = await context.session.exec(request, context.signal);
  return { status: toStatus(result), text: toText(result, timeoutMs) };
}

function toStatus(result: ExecResult): ToolResult['status'] {
  if (result.timedOut) return 'timeout';
  return result.exitCode === 0 ? 'success' : 'error';
}

/** The end stands last, where a text that is cut in the middle keeps it. */
function toText(result: ExecResult, timeoutMs: number): string {
  const output = result.output === '' || result.output.endsWith('\n') ? result.output : `${result.output}\n`;
  const limit = result.exceeded === null ? '' : `; it ran into the session's limit of ${result.exceeded}`;
  return `${output}[${toEnd(result, timeoutMs)}${limit}]`;
}

function toEnd(result: ExecResult, timeoutMs: number): string {
  if (result.spawnError !== null) return `could not be started: ${result.spawnError}`;
  if (result.timedOut) {
    return `timed out after ${seconds(result.durationMs)}, its limit is ${seconds(timeoutMs)}; it and all that it started were ended`;
  }
  return result.exitCode === null
    ? `ended by ${result.signal ?? 'a signal'}`
    : `exit code ${result.exitCode}`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
