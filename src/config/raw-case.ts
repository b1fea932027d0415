import type { Source } from './source.ts';

/** One item of a list of cases before it is checked, and where it stands. */
export type RawCase = {
  readonly value: unknown;
  /** Made only when a message needs it. */
  readonly source: () => Source;
  readonly place: Place;
  /** Folder that the paths of this case start from. */
  readonly baseDir: string;
};

export type Place = {
  readonly file: string;
  /** From 1; null where the input has no lines. */
  readonly line: number | null;
};
