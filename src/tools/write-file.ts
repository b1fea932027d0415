import { z } from 'zod';
import { createTool } from './create-tool.ts';
import type { Tool } from './tool.ts';

const parameters = z.strictObject({
  path: z.string().min(1).describe('File in the working directory. Directories above it are made.'),
  content: z.string().describe('The whole new content.'),
});

/** Writes a whole file. To do it twice is to do it once. */
export const writeFile: Tool = createTool({
  name: 'write_file',
  description: 'Write a text file, replacing what it held.',
  parameters,
  policy: { idempotent: true },
  run: async ({ path, content }, { session }) => {
    const bytes = Buffer.from(content, 'utf8');
    await session.writeFile(path, bytes);
    return { status: 'success', text: `Wrote ${bytes.length} bytes to "${path}".` };
  },
});
