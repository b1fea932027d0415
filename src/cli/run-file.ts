import { checkRunId } from '../client/run-id.ts';
import { createBuiltInCatalog } from '../config/built-in-catalog.ts';
import { loadRunFile } from '../modules/load-run-file.ts';
import { findApprovalNeed } from '../domain/approval.ts';
import { estimateRun } from '../domain/estimate.ts';
import type { CommandContext } from './command.ts';
import type { CommandResult } from './command-result.ts';
import { confirmSpending } from './confirm-spending.ts';
import { describePlan } from './describe-plan.ts';
import { toOverrides, toReuse, toSelection, type RunOptions } from './run-options.ts';

/** `assay run FILE`. Whatever is wrong with the file is said before anything is started. */
export async function runFile(
  file: string,
  options: RunOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const [selection, overrides] = [toSelection(options), toOverrides(options)];
  const reuse = toReuse(options);
  const runId = options.runId === undefined ? null : checkRunId(options.runId);
  const catalog = createBuiltInCatalog();
  const loaded = await loadRunFile({ path: file, selection, overrides, catalog });
  for (const warning of loaded.warnings) context.note(`Warning: ${warning}`);
  const { spec, suites } = loaded;
  const estimate = estimateRun(spec, suites);
  if (options.dryRun === true) return describePlan({ loaded, estimate });
  // How much of it is left to spend is known once the run is planned: then it may wait for approval.
  const need = reuse === null ? findApprovalNeed(spec.budgets, estimate.costUsd) : null;
  const approved = await confirmSpending(need, { yes: options.yes === true, ask: !context.json });
  // What follows needs Postgres and Temporal, and their libraries take a while to load.
  const { launchRun } = await import('./launch-run.ts');
  const waits = need !== null && !approved;
  const launch = { loaded, runId, approved, reuse };
  return launchRun({ ...launch, detach: options.detach === true, waits }, context);
}
