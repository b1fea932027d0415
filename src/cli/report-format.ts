import { extname } from 'node:path';

export const REPORT_FORMATS = ['table', 'markdown', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Form of a report that is not said: what the name of its file says, else a table. */
export function chooseFormat(given: ReportFormat | undefined, output: string | undefined): ReportFormat {
  if (given !== undefined) return given;
  switch (extname(output ?? '').toLowerCase()) {
    case '.md':
    case '.markdown':
      return 'markdown';
    case '.json':
      return 'json';
    default:
      return 'table';
  }
}
