import { z } from 'zod';
import { createTool } from './create-tool.ts';
import type { Tool } from './tool.ts';

const parameters = z.strictObject({
  path: z.string().min(1).optional().describe('Directory. Default: the working directory.'),
});

/** Lists one level of a directory. */
export const listFiles: Tool = createTool({
  name: 'list_files',
  description: 'List the files of a directory, one a line; a trailing slash marks a directory.',
  parameters,
  policy: { idempotent: true },
  run: async ({ path = '.' }, { session }) => {
    const names = await session.listFiles(path);
    return { status: 'success', text: names.length === 0 ? `"${path}" is empty.` : names.join('\n') };
  },
});
