import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { RequestBrief, RunBrief } from '../domain/workflow-brief.ts';

const RUN = defineSearchAttributeKey('AssayRun', 'KEYWORD');
const REQUEST = defineSearchAttributeKey('AssayRequest', 'KEYWORD');
const MODEL = defineSearchAttributeKey('AssayModel', 'KEYWORD_LIST');
const CASE = defineSearchAttributeKey('AssayCase', 'KEYWORD_LIST');
const OUTCOME = defineSearchAttributeKey('AssayOutcome', 'KEYWORD');

/** SQL visibility holds at most 255 characters a value. */
const cut = (text: string): string => text.toWellFormed().slice(0, 255);
const cutAll = (texts: readonly string[]): string[] => [...new Set(texts.map(cut))].sort();

type Attributes = { readonly typedSearchAttributes?: SearchAttributePair[] };

/** Search attributes of a task or attempt; none where the server lacks them. */
export function toTaskAttributes(
  run: RunBrief,
  request: RequestBrief,
  tasks: readonly { readonly modelId: string; readonly caseId: string }[],
): Attributes {
  if (!run.searchAttributes) return {};
  return {
    typedSearchAttributes: [
      { key: RUN, value: cut(run.runId) },
      { key: REQUEST, value: cut(request.name) },
      { key: MODEL, value: cutAll(tasks.map((task) => task.modelId)) },
      { key: CASE, value: cutAll(tasks.map((task) => task.caseId)) },
    ],
  };
}

export const toRunAttribute = (runId: string): SearchAttributePair[] => [{ key: RUN, value: cut(runId) }];

export const toOutcomeAttribute = (outcome: string): SearchAttributePair[] => [
  { key: OUTCOME, value: outcome },
];
