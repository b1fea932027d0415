import type { JsonObject } from '../domain/json.ts';
import { isFields } from './fields.ts';
import { findModelRules } from './param-table.ts';
import type { ParamRule } from './param-table.ts';
import type { ParamProblem } from './params.ts';

type Model = { readonly kind: string; readonly model: string; readonly params: JsonObject };

/** What this model refuses of parameters that its API knows, by the table in `param-table.ts`. */
export const findRuleProblems = (model: Model): ParamProblem[] => [
  ...listTableProblems(model),
  ...checkThinkingBudget(model),
];

const listTableProblems = (model: Model): ParamProblem[] =>
  findModelRules(model.kind, model.model).flatMap((rule) =>
    rule.params
      .filter((param) => Object.hasOwn(model.params, param) && applies(rule, model.params))
      .filter((param) => !isPossible(rule, model.params[param]))
      .map((param) => ({
        path: ['params', param],
        message: `model "${model.model}" does not take ${param} ${describe(model.params[param])}: ${rule.possible}`,
      })),
  );

/** Anthropic counts thoughts as output: a cap that leaves no room for an answer is refused. */
function checkThinkingBudget({ kind, model, params }: Model): ParamProblem[] {
  const { thinking, maxOutputTokens } = params;
  const budget = isFields(thinking) ? thinking['budgetTokens'] : undefined;
  if (kind !== 'anthropic' || typeof budget !== 'number' || typeof maxOutputTokens !== 'number') return [];
  if (maxOutputTokens > budget) return [];
  const message = `model "${model}" thinks within its cap: maxOutputTokens ${maxOutputTokens} must be above ${budget}, the budget`;
  return [{ path: ['params', 'thinking', 'budgetTokens'], message }];
}

/** A setting as rules compare it: `thinking` by its type, what is unset as `unset`. */
function toSetting(params: JsonObject, name: string): string {
  const value = params[name];
  if (value === undefined) return 'unset';
  const said = typeof value === 'object' && value !== null && 'type' in value ? value.type : value;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

function applies({ when, unless }: ParamRule, params: JsonObject): boolean {
  const holds = (test: ParamRule['when']): boolean =>
    test === undefined || test.is.includes(toSetting(params, test.param));
  return holds(when) && (unless === undefined || !holds(unless));
}

function isPossible({ values, range }: ParamRule, value: JsonObject[string] | undefined): boolean {
  const setting = toSetting({ value: value ?? null }, 'value');
  if (values?.includes(setting) === true) return true;
  if (range === undefined || typeof value !== 'number') return false;
  return value >= range[0] && value <= range[1];
}

const describe = (value: JsonObject[string] | undefined): string => JSON.stringify(value);
