/** What a program or a run file imports from "assay". */
export { z } from 'zod';
export { AssayClient } from './client/assay-client.ts';
export type { ConnectOptions, StartOptions } from './client/assay-client.ts';
export type { Cancelling, RaisedBudgets, Resumed } from './client/control-run.ts';
export type { ListedRun } from './client/list-runs.ts';
export type { RunProgress } from './client/progress.ts';
export type { FollowOptions, RunEnd, RunHandle } from './client/run-handle.ts';
export type { LimitChange } from './domain/limit-change.ts';
export type { Limit, Outcome, OutcomeKind, Reason, RunState } from './domain/outcome.ts';
export type { LimitChanges, Sender } from './domain/run-control.ts';
export type { Report } from './reports/report-schema.ts';
export type { AttemptRow } from './store/attempt-rows.ts';
export type { ProgressRow } from './store/progress.ts';
export type { Steered } from './workflows/messages.ts';
export { defineConfig, defineRun } from './modules/define-run.ts';
export type {
  CaseInput,
  ConfigFile,
  DefinedConfig,
  DefinedRun,
  RequestInput,
  RunFile,
  SuiteInput,
} from './modules/define-run.ts';
export { defineScorer } from './modules/define-scorer.ts';
export { defineSimilarity } from './modules/define-similarity.ts';
export { fromAutoevals } from './modules/from-autoevals.ts';
export type { AutoevalsScore } from './modules/from-autoevals.ts';
export type { SimilarityDefinition } from './modules/define-similarity.ts';
export type { AttemptToScore, DefinedScorer, GivenScore, ScorerDefinition } from './modules/define-scorer.ts';
export { defineTool } from './modules/define-tool.ts';
export type { DefinedTool, Duration, ToolCallContext, ToolDefinition } from './modules/define-tool.ts';
export { defineProvider } from './modules/define-provider.ts';
export type { DefinedProvider } from './modules/define-provider.ts';
export type { PlugInAnswer, PlugInContext, ProviderDefinition } from './providers/define-provider.ts';
