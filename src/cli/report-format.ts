import { extname } from 'node:path';
import { UsageError } from './usage-error.ts';

export const REPORT_FORMATS = ['table', 'markdown', 'json', 'html', 'csv', 'junit'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Form of a report that is not said: what the name of its file says, else a table. Throws a UsageError on a name of another form. */
export function chooseFormat(given: ReportFormat | undefined, output: string | undefined): ReportFormat {
  if (given !== undefined) return given;
  switch (extname(output ?? '').toLowerCase()) {
    case '.md':
    case '.markdown':
      return 'markdown';
    case '.json':
      return 'json';
    case '.html':
    case '.htm':
      return 'html';
    case '.csv':
      return 'csv';
    case '.xml':
      return 'junit';
    case '':
    case '.txt':
    case '.log':
      return 'table';
    default:
      throw new UsageError(
        `"${output}": a report has no such form. Let the name end in .md, .html, .json, .csv, .xml (JUnit) or .txt, or give --format.`,
      );
  }
}
