/** A file that an agent left, kept as a blob. */
export type Artifact = {
  /** Relative to the working directory, with `/`. */
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
};

/** Which files of the working directory are kept after the agent has ended, and how many. */
export type ArtifactsSpec = {
  /** Globs. */
  readonly paths: readonly string[];
  readonly maxFiles: number;
  /** Of all together. */
  readonly maxBytes: number;
};

export const ARTIFACT_LIMITS = { maxFiles: 1_000, maxBytes: 256 * 1024 * 1024 } as const;

/** With evaluation `fresh` a grader gets all that the agent left, unless a file says which. */
export const ALL_ARTIFACTS: ArtifactsSpec = { paths: ['**'], ...ARTIFACT_LIMITS };
