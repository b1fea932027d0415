import type { Colors } from 'picocolors/types.js';
import type { RunProgress } from '../../client/progress.ts';

export type ProgressView = {
  readonly progress: RunProgress;
  readonly elapsedMs: number;
  /** Null = no pace to go by yet. */
  readonly remainingMs: number | null;
  /** By position of the line, as `remainingMs`. */
  readonly lineRemainingMs: readonly (number | null)[];
  /** One sentence of what is going on beside the run, such as a stop that waits for cleanup; or null. */
  readonly notice: string | null;
};

export type Screen = { readonly width: number; readonly height: number; readonly colors: Colors };
