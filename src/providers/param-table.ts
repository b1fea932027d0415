/** One restriction of some models: which parameters, when, and what is possible instead. */
export type ParamRule = {
  readonly kind: 'openai' | 'anthropic' | 'google';
  /** Names of models; absent = every model of the kind. */
  readonly models?: RegExp;
  readonly params: readonly string[];
  /** Holds only with this setting of another parameter (`unset` = not given). */
  readonly when?: Setting;
  /** Does not hold with this setting. */
  readonly unless?: Setting;
  /** Values that are possible all the same; without `values` and `range` none is. */
  readonly values?: readonly string[];
  readonly range?: readonly [least: number, most: number];
  /** What the reader may do. */
  readonly possible: string;
};

type Setting = { readonly param: string; readonly is: readonly string[] };

const O_SERIES_AND_GPT_5 = /^(?:o[134]|gpt-5(?!\.\d|-chat))/;
/** Models that always reason: they have no effort `none`. */
const ALWAYS_REASONING = /^(?:o[134]|gpt-5(?!\.\d|-chat)|gpt-6(?:-astra|\.1-sol|\.2-(?:sol|astra)))/;
const NOT_REASONING = /^(?:gpt-3|gpt-4|chatgpt-|gpt-5-chat)/;
const CLAUDE_WITHOUT_SAMPLING = /claude-(?:opus-4-[78]|(?:opus|sonnet|fable)-5|haiku-5-5)/;
const CLAUDE_BEFORE_ADAPTIVE = /claude-(?:[23]|instant|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|$))/;
const CLAUDE_ADAPTIVE_ONLY = /claude-(?:(?:opus|haiku)-5-5|sonnet-5|fable-5)/;
const CLAUDE_ALWAYS_THINKING = /claude-(?:(?:opus|sonnet)-5-5|fable-5)/;

const efforts = (models: RegExp, ...values: string[]): ParamRule => ({
  kind: 'openai',
  models,
  params: ['reasoningEffort'],
  values,
  possible: `possible: ${values.join(', ')}`,
});

/** The API takes 1 from every model: it is the default. */
const AS_DEFAULT = { params: ['temperature', 'topP'], values: ['1'] };

const OPENAI: readonly ParamRule[] = [
  {
    kind: 'openai',
    params: ['seed', 'stop', 'presencePenalty', 'frequencyPenalty'],
    when: { param: 'api', is: ['unset', 'responses'] },
    possible: 'the responses API has no such parameter; set params.api: chat, or remove it',
  },
  {
    kind: 'openai',
    params: ['reasoningSummary'],
    when: { param: 'api', is: ['chat'] },
    possible: 'only the responses API gives summaries; remove params.api: chat, or remove it',
  },
  {
    kind: 'openai',
    models: ALWAYS_REASONING,
    ...AS_DEFAULT,
    possible: 'a reasoning model draws as it likes; remove it, steer by reasoningEffort',
  },
  {
    // Their effort is `none` when nothing is set.
    kind: 'openai',
    models: /^gpt-5\.[1245](?!-chat|-codex|-pro)/,
    ...AS_DEFAULT,
    unless: { param: 'reasoningEffort', is: ['none', 'unset'] },
    possible: 'only with reasoningEffort: none; set that, or remove it',
  },
  {
    kind: 'openai',
    models: /^(?:gpt-5\.6|gpt-6-(?:sol|luna)|gpt-6\.1-terra)/,
    ...AS_DEFAULT,
    unless: { param: 'reasoningEffort', is: ['none'] },
    possible: 'only with reasoningEffort: none; set that, or remove it',
  },
  {
    kind: 'openai',
    models: O_SERIES_AND_GPT_5,
    params: ['presencePenalty', 'frequencyPenalty', 'stop'],
    when: { param: 'api', is: ['chat'] },
    possible: 'a reasoning model has no such parameter; remove it',
  },
  {
    kind: 'openai',
    models: NOT_REASONING,
    params: ['reasoningEffort', 'reasoningSummary'],
    possible: 'this model does not reason; remove it',
  },
  efforts(/^gpt-5-pro/, 'high'),
  efforts(/^gpt-5(?:-mini|-nano)?(?:-\d{4}|$)/, 'minimal', 'low', 'medium', 'high'),
  efforts(/^gpt-5\.1(?:-\d{4}|$)/, 'none', 'low', 'medium', 'high'),
  efforts(/^gpt-5\.[245](?:-mini|-nano)?(?:-\d{4}|$)/, 'none', 'low', 'medium', 'high', 'xhigh'),
  efforts(/^gpt-5\.6/, 'none', 'low', 'medium', 'high', 'xhigh', 'max'),
  efforts(/^(?:gpt-6-(?:sol|luna)|gpt-6\.1-terra)/, 'none', 'low', 'medium', 'high', 'xhigh', 'max'),
  efforts(/^gpt-6(?:-astra|\.1-sol|\.2-(?:sol|astra))/, 'low', 'medium', 'high', 'xhigh', 'max'),
];

const ANTHROPIC: readonly ParamRule[] = [
  {
    kind: 'anthropic',
    models: CLAUDE_WITHOUT_SAMPLING,
    params: ['topP', 'topK'],
    possible: 'this model draws as it likes; remove it, steer by reasoningEffort',
  },
  {
    // 1 is its default, which it takes.
    kind: 'anthropic',
    models: CLAUDE_WITHOUT_SAMPLING,
    params: ['temperature'],
    values: ['1'],
    possible: 'this model draws as it likes; remove it, steer by reasoningEffort',
  },
  {
    kind: 'anthropic',
    params: ['temperature'],
    when: { param: 'thinking', is: ['enabled', 'adaptive'] },
    values: ['1'],
    possible: 'not while it thinks; remove it, or set thinking: { type: disabled }',
  },
  {
    kind: 'anthropic',
    params: ['topK'],
    when: { param: 'thinking', is: ['enabled', 'adaptive'] },
    possible: 'not while it thinks; remove it, or set thinking: { type: disabled }',
  },
  {
    kind: 'anthropic',
    params: ['topP'],
    when: { param: 'thinking', is: ['enabled', 'adaptive'] },
    range: [0.95, 1],
    possible: 'while it thinks only 0.95 to 1; change or remove it',
  },
  {
    kind: 'anthropic',
    models: CLAUDE_BEFORE_ADAPTIVE,
    params: ['thinking'],
    values: ['enabled', 'disabled'],
    possible: 'possible: { type: enabled, budgetTokens: 1024 or more }, { type: disabled }',
  },
  {
    kind: 'anthropic',
    models: CLAUDE_ALWAYS_THINKING,
    params: ['thinking'],
    values: ['adaptive'],
    possible: 'it always thinks as much as it likes; possible: { type: adaptive }, and reasoningEffort',
  },
  {
    kind: 'anthropic',
    models: CLAUDE_ADAPTIVE_ONLY,
    params: ['thinking'],
    values: ['adaptive', 'disabled'],
    possible: 'it takes no budget; possible: { type: adaptive }, and reasoningEffort',
  },
  {
    kind: 'anthropic',
    models: /claude-(?:[23]|instant|(?:sonnet|haiku)-4-5|(?:opus|sonnet)-4(?:-[01])?(?:-\d{8}|$))/,
    params: ['reasoningEffort'],
    possible: 'this model has no effort; use thinking: { type: enabled, budgetTokens: ... }',
  },
  {
    kind: 'anthropic',
    models: /claude-opus-4-5/,
    params: ['reasoningEffort'],
    values: ['low', 'medium', 'high'],
    possible: 'possible: low, medium, high',
  },
  {
    kind: 'anthropic',
    models: /claude-(?:opus|sonnet)-4-6/,
    params: ['reasoningEffort'],
    values: ['low', 'medium', 'high', 'max'],
    possible: 'possible: low, medium, high, max',
  },
];

const GOOGLE: readonly ParamRule[] = [
  {
    kind: 'google',
    models: /^(?:models\/)?gemini-2\.5/,
    params: ['presencePenalty', 'frequencyPenalty'],
    possible: 'Gemini 2.5 has no penalties; remove it',
  },
  {
    kind: 'google',
    models: /^(?:models\/)?gemini-2\.5/,
    params: ['reasoningEffort'],
    possible: 'levels came with Gemini 3; use thinkingBudget',
  },
  {
    kind: 'google',
    models: /^(?:models\/)?gemini-(?:1\.5|2\.0)(?!.*thinking)/,
    params: ['reasoningEffort', 'thinkingBudget', 'includeThoughts'],
    possible: 'this model does not think; remove it',
  },
  {
    kind: 'google',
    models: /^(?:models\/)?gemini-2\.5-pro/,
    params: ['thinkingBudget'],
    values: ['-1'],
    range: [128, 32_768],
    possible: 'possible: 128 to 32768, or -1 (as it likes); it cannot be turned off',
  },
  {
    kind: 'google',
    models: /^(?:models\/)?gemini-2\.5-flash(?!-lite)/,
    params: ['thinkingBudget'],
    values: ['-1'],
    range: [0, 24_576],
    possible: 'possible: 0 (off) to 24576, or -1 (as it likes)',
  },
];

/**
 * What models refuse of parameters that their API knows, where the providers' documentation, their answers in
 * public reports or price lists that name efforts say so. A model that no rule names is sent what the run file says.
 */
export const PARAM_RULES: readonly ParamRule[] = [...OPENAI, ...ANTHROPIC, ...GOOGLE];

export const findModelRules = (kind: string, model: string): readonly ParamRule[] =>
  PARAM_RULES.filter((rule) => rule.kind === kind && (rule.models?.test(model) ?? true));
