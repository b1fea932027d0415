import type { Analyzer } from './analyzer.ts';
import { loops } from './loops.ts';
import { timeSpent } from './time-spent.ts';
import { toolErrors } from './tool-errors.ts';

/** In the order in which they are shown. */
export const ANALYZERS: readonly Analyzer[] = [toolErrors, loops, timeSpent];
