import type { ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ModelCard } from '../domain/run.ts';
import type { TestCase } from '../domain/suite.ts';
import type { ToolPolicy } from '../domain/tool-policy.ts';
import type { Price } from '../domain/usage.ts';
import type { Path, Problem } from './problem.ts';

/** How the options of a scorer are checked, and where it judges. */
export type ScorerInCatalog = {
  readonly options: ZodType<JsonObject>;
  needsTarget(options: JsonObject): boolean;
  readonly place: 'local' | 'session' | 'process' | 'judge';
  /** What passes where a suite says nothing; 1 unless given. */
  readonly threshold?: number;
  /** Whether its option `file` names a text that is read into `code`. */
  readonly readsCode?: boolean;
  /** Whether an attempt of a model without a price cannot be judged. */
  readonly needsPrice?: boolean;
};

/** What a file may name as a scorer, by kind. */
export type ScorerCatalog = ReadonlyMap<string, ScorerInCatalog>;

/** What a kind of provider is when a run file says nothing else. */
export type ProviderDefaults = {
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  /** A run file has to give the address. */
  readonly needsAddress: boolean;
  /** The API refuses requests without a cap on output. */
  readonly needsOutputLimit: boolean;
};

/** What is known of a model without asking anybody. */
export type KnownModel = {
  readonly card: Omit<ModelCard, 'priced'>;
  readonly price: Price | null;
  readonly maxOutputTokens: number | null;
};

/** The names that exist in this program; handed in, so that reading files depends on no implementation. */
export type Catalog = {
  readonly scorers: ScorerCatalog;
  readonly tools: ReadonlySet<string>;
  /** Those of them that act in no environment, such as `submit`: named only by request. */
  readonly freeTools?: ReadonlySet<string>;
  /** How each of all tools may be repeated unless a file says otherwise. */
  readonly policies?: ReadonlyMap<string, ToolPolicy>;
  /** Tools of the run file itself: they act outside environments. */
  readonly moduleTools?: ReadonlySet<string>;
  /** What the presets of the command harness say, by name; read by `commandPresetSchema`. */
  readonly presets?: ReadonlyMap<string, unknown>;
  /** What the command harness tells an agent. */
  readonly toPrompt: (testCase: TestCase) => string;
  /** By kind, in the order in which they are offered. */
  readonly providers: ReadonlyMap<string, ProviderDefaults>;
  /** The row of the price table for a model, or null. */
  readonly findKnownModel: (model: {
    readonly kind: string;
    readonly model: string;
    readonly params: JsonObject;
    readonly now: number;
  }) => KnownModel | null;
  /** What a provider cannot send, each with its place below `models[i]`. */
  readonly findParamProblems: (model: {
    readonly kind: string;
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
