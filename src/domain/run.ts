import type { ArtifactsSpec } from './artifacts.ts';
import type { CommandHarness } from './command-harness.ts';
import type { NetworkPhases } from './network-policy.ts';
import type { ResourceLimits } from './resources.ts';
import type { JsonObject } from './json.ts';
import type { McpServerSpec } from './mcp-server.ts';
import type { RankingRule } from './ranking-rule.ts';
import type { RunModule } from './run-module.ts';
import type { AttemptLimits } from './suite.ts';
import type { ToolPolicyChange } from './tool-policy.ts';
import type { Price } from './usage.ts';

/** Where models are reached. Two providers with equal kind, base address and key name are one engine. */
export type ProviderSpec = {
  readonly id: string;
  /** A built-in kind or a plug-in's. */
  readonly kind: string;
  readonly baseUrl: string | null;
  /** Name of the environment variable that holds the key; never the key. */
  readonly apiKeyEnv: string | null;
  /** Slots per worker: calls in flight. `auto` = as many as the provider bears, 20 at first. */
  readonly concurrency: number | 'auto';
  /** Over all workers and runs; null = no limit. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly retry: { readonly max: number; readonly baseMs: number };
  readonly stream: boolean;
  readonly timeouts: CallTimeouts;
};

export type CallTimeouts = {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
};

export type ModelSpec = {
  /** Unique in the run; what reports show. */
  readonly id: string;
  readonly providerId: string;
  /** The name that the provider knows. */
  readonly model: string;
  readonly params: JsonObject;
  readonly price: Price | null;
  /** Row of Assay's price table for this model; absent when it has none. */
  readonly card?: ModelCard;
  /** The cap on output that is sent where `params` have none: with a budget, and to APIs that demand one. */
  readonly outputLimit?: number;
};

/** What the price table knows of a model, and from where. */
export type ModelCard = {
  /** Name of the row. */
  readonly model: string;
  /** `YYYY-MM-DD`: the text at `source` is of this day or later. */
  readonly date: string;
  /** Address of the text that shows the price of input and output. */
  readonly source: string;
  /** Addresses of the texts that show the row's other rates and its limit. */
  readonly also: readonly string[];
  /** Whether `source` is the provider's own; false = a third party's list. */
  readonly vendor: boolean;
  /** Whether `price` is the row's; false = the run file has its own. */
  readonly priced: boolean;
};

export type HarnessSpec =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'agent';
      readonly tools: readonly string[];
      readonly maxSteps: number;
      /** What the run file says of tools; absent where it names them alone. */
      readonly policies?: { readonly [tool: string]: ToolPolicyChange };
      /** How long a call waits for `assay resolve`; 24 h unless given. */
      readonly askExpiryMs?: number;
      /** Servers whose tools are offered beside those; absent where there is none. */
      readonly mcp?: readonly McpServerSpec[];
    }
  | CommandHarness;

export type EnvironmentSpec = { readonly kind: 'none' } | SessionSpec;

/** An environment that opens sessions. */
export type SessionSpec = {
  readonly kind: 'host' | 'bubblewrap' | 'docker';
  readonly variables: { readonly [name: string]: string };
  /** What sessions start from: an image, in a plan by its digest; of bubblewrap a root directory. */
  readonly image: string | null;
  readonly network: NetworkPhases;
  readonly resources: ResourceLimits;
  /** Sessions are kept for so long instead of being closed; null = closed. */
  readonly keepMs: number | null;
};

export type EvaluationMode = 'reuse' | 'none' | 'fresh';

export type RequestSpec = {
  readonly name: string;
  /** Key into the suites that were loaded with the run. */
  readonly suiteKey: string;
  readonly modelIds: readonly string[];
  readonly harness: HarnessSpec;
  readonly environment: EnvironmentSpec;
  readonly evaluation: EvaluationMode;
  /** Files of the agent that are kept; absent = none, with `fresh` all within the limits. */
  readonly artifacts?: ArtifactsSpec;
  readonly attempts: { readonly k: number; readonly strategy: 'avg' | 'pass' };
  /** Whole-attempt tries; null patterns = any infrastructure failure, [] = none. */
  readonly retries: { readonly max: number; readonly patterns: readonly string[] | null };
  readonly limits: AttemptLimits;
  readonly order: 'case' | 'model';
};

export type Execution = {
  /** Running attempts of the run. */
  readonly taskConcurrency: number;
  readonly timeoutMs: number | null;
  readonly cleanupGraceMs: number;
  readonly failFast: boolean;
  readonly seed: number;
  readonly packing: 'auto' | 'off';
};

export type Budgets = {
  readonly maxRunUsd: number | null;
  readonly maxModelUsd: number | null;
  readonly maxRunTokens: number | null;
  readonly confirmAboveUsd: number | null;
  /** How long a run waits for approval before it ends as cancelled. */
  readonly approvalExpiryMs: number;
  readonly onExceed: 'stop' | 'warn';
  readonly allowUnpriced: boolean;
};

export type Gates = {
  readonly minCoverage: number | null;
  readonly minPassRate: number | null;
  readonly minMean: number | null;
  readonly maxUnscoredRate: number | null;
  readonly requireModels: boolean;
};

/** A run as declared, checked and with every default filled in. */
export type RunSpec = {
  readonly name: string;
  readonly models: readonly ModelSpec[];
  readonly providers: readonly ProviderSpec[];
  readonly requests: readonly RequestSpec[];
  readonly execution: Execution;
  readonly budgets: Budgets;
  readonly gates: Gates;
  /** How models are ranked; absent = by accuracy. */
  readonly ranking?: RankingRule;
  readonly context: JsonObject;
  /** The models that scorers of kind `judge` ask; absent where none does. */
  readonly judges?: readonly ModelSpec[];
  /** The code of a TypeScript run file; absent where a run has none. */
  readonly module?: RunModule;
};
