/** What one analyzer said of one attempt, or why it could not. */
export type AnalysisRow = {
  readonly analyzer: string;
  readonly summary: string | null;
  readonly facts: { readonly [name: string]: number };
  /** Null = it went well. */
  readonly error: string | null;
};
