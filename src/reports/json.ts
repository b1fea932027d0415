import type { Report } from './report-schema.ts';

/** The report as strict JSON (RFC 8259) with a line break at the end; what is unknown is null. */
export const formatJson = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`;
