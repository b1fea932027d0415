import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { createTool } from './create-tool.ts';
import type { Tool, ToolResult } from './tool.ts';

const parameters = z.strictObject({
  path: z.string().min(1).describe('File in the working directory.'),
  offset: z.int().min(1).max(1_000_000_000).optional().describe('First line to read, from 1.'),
  limit: z.int().min(1).max(1_000_000_000).optional().describe('Number of lines to read. Default: all.'),
});

/** Reads a text file, or some of its lines. */
export const readFile: Tool = createTool({
  name: 'read_file',
  description: 'Read a text file of at most 8 MiB, or some of its lines.',
  parameters,
  policy: { idempotent: true },
  run: async (args, { session }) => {
    const bytes = Buffer.from(await session.readFile(args.path));
    if (bytes.includes(0) || !isUtf8(bytes)) {
      const text = `"${args.path}" is not text: ${bytes.length} bytes that are not UTF-8. Look at it with a command, such as file or xxd.`;
      return { status: 'error', text };
    }
    const text = bytes.toString('utf8');
    const isWhole = args.offset === undefined && args.limit === undefined;
    return isWhole ? { status: 'success', text } : readLines(text, args);
  },
});

function readLines(text: string, args: z.infer<typeof parameters>): ToolResult {
  const lines = text.split('\n');
  // A line break at the end closes the last line; it begins no other.
  if (lines.at(-1) === '') lines.pop();
  const first = args.offset ?? 1;
  if (first > lines.length) {
    return {
      status: 'error',
      text: `"${args.path}" has ${lines.length} lines; line ${first} was asked for.`,
    };
  }
  const last = Math.min(lines.length, first - 1 + (args.limit ?? lines.length));
  const note = `[lines ${first} to ${last} of ${lines.length}]`;
  return { status: 'success', text: `${lines.slice(first - 1, last).join('\n')}\n${note}` };
}
