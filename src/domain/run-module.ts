import type { JsonObject } from './json.ts';
import type { ToolPolicy } from './tool-policy.ts';
import type { ToolSchema } from './transcript.ts';

/** The code of a TypeScript run file as a plan records it: workers run exactly these bytes. */
export type RunModule = {
  /** SHA-256 of the bundle, a blob; equal for equal sources, wherever they lie. */
  readonly digest: string;
  /** The code itself, where it is small and no blob. */
  readonly code?: string;
  /** The export that is the run. */
  readonly exportName: string;
  /** The run file, relative to its project's folder, with `/`. */
  readonly path: string;
  /** Folder of the nearest package.json on the machine that started the run; packages resolve from there. */
  readonly projectDir: string;
  readonly tools: readonly ModuleTool[];
  readonly scorers: readonly ModuleScorer[];
  readonly providers: readonly ModuleProvider[];
};

/** A kind of provider of `defineProvider`. */
export type ModuleProvider = {
  readonly kind: string;
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  /** JSON Schema of its parameters; null = it takes any. */
  readonly params: JsonObject | null;
  readonly checksHealth: boolean;
};

/** A tool of `defineTool`: what models are told, and how it may be repeated. */
export type ModuleTool = {
  readonly schema: ToolSchema;
  readonly policy: ToolPolicy;
};

/** A scorer of `defineScorer`. */
export type ModuleScorer = {
  readonly name: string;
  readonly needsTarget: boolean;
  readonly timeoutMs: number;
  /** JSON Schema of its options; null = it has none. */
  readonly options: JsonObject | null;
};
