import type { Settings } from '../config/environment-variables.ts';

/** How tables on standard output may look. */
export const toTableForm = ({ noColor }: Settings): { readonly width: number; readonly color: boolean } => ({
  width: process.stdout.columns ?? 100,
  color: process.stdout.isTTY === true && !noColor,
});
