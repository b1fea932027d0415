import type { ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ProviderKind } from '../domain/run.ts';
import type { Path, Problem } from './problem.ts';

/** What a file may name as a scorer: kind -> how its options are checked. */
export type ScorerCatalog = ReadonlyMap<
  string,
  {
    readonly options: ZodType<JsonObject>;
    needsTarget(options: JsonObject): boolean;
    readonly place: 'local' | 'session' | 'process';
  }
>;

/** The names that exist in this program; handed in, so that reading files depends on no implementation. */
export type Catalog = {
  readonly scorers: ScorerCatalog;
  readonly tools: ReadonlySet<string>;
  /** Tools of the run file itself: they act outside environments. */
  readonly moduleTools?: ReadonlySet<string>;
  /** What a provider cannot send, each with its place below `models[i]`. */
  readonly findParamProblems?: (model: {
    readonly kind: ProviderKind;
    readonly model: string;
    readonly params: JsonObject;
  }) => readonly { readonly path: Path; readonly message: string }[];
};

/** Everything that reading gathers on its way. */
export type Gathered = {
  readonly catalog: Catalog;
  readonly problems: Problem[];
  readonly warnings: string[];
  /** SHA-256 -> content of files that cases and scorers name. */
  readonly files: Map<string, Uint8Array>;
};
