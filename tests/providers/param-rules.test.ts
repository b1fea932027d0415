import { describe, expect, test } from 'vitest';
import { checkParams } from '../../src/providers/lookup.ts';
import type { JsonObject } from '../../src/domain/json.ts';

type Row = readonly [kind: string, model: string, params: JsonObject, problem: RegExp | null];

const ROWS: readonly Row[] = [
  ['openai', 'gpt-5-mini', { maxOutputTokens: 9, reasoningEffort: 'minimal' }, null],
  [
    'openai',
    'gpt-5-mini',
    { temperature: 0 },
    /temperature: model "gpt-5-mini" does not take temperature 0: .*reasoningEffort/,
  ],
  ['openai', 'o4-mini', { topP: 0.5 }, /topP: model "o4-mini" does not take topP 0.5/],
  ['openai', 'gpt-5-chat-latest', { temperature: 0 }, null],
  ['openai', 'gpt-5-mini', { temperature: 1 }, null],
  ['openai', 'gpt-5.1', { temperature: 0 }, null],
  ['openai', 'gpt-5.1', { temperature: 0, reasoningEffort: 'low' }, /only with reasoningEffort: none/],
  ['openai', 'gpt-5.1', { temperature: 0, reasoningEffort: 'none' }, null],
  [
    'openai',
    'gpt-5',
    { reasoningEffort: 'none' },
    /reasoningEffort "none": possible: minimal, low, medium, high/,
  ],
  ['openai', 'gpt-5.4', { reasoningEffort: 'xhigh' }, null],
  ['openai', 'gpt-5.6-luna', { temperature: 0 }, /only with reasoningEffort: none/],
  ['openai', 'gpt-6-sol', { temperature: 0, reasoningEffort: 'none' }, null],
  ['openai', 'gpt-6.2-sol', { temperature: 0 }, /draws as it likes/],
  ['openai', 'gpt-7', { temperature: 0, reasoningEffort: 'none' }, null],
  ['openai', 'o4-mini', { reasoningEffort: 'xhigh' }, null],
  ['openai', 'gpt-6-astra', { reasoningEffort: 'none' }, /possible: low, medium, high, xhigh, max/],
  ['openai', 'gpt-4.1', { reasoningEffort: 'low' }, /does not reason/],
  ['openai', 'gpt-4.1', { temperature: 0, seed: 1 }, /seed: .*set params.api: chat/],
  ['openai', 'gpt-4.1', { temperature: 0, seed: 1, stop: 'x', api: 'chat' }, null],
  ['openai', 'gpt-5', { api: 'chat', stop: 'x' }, /stop: .*reasoning model has no such parameter/],
  ['openai', 'gpt-5', { api: 'chat', reasoningSummary: 'auto' }, /only the responses API/],
  ['openai', 'gpt-5', { temperture: 0 }, /unknown parameter "temperture"; possible: api, temperature/],
  ['openai', 'gpt-4.1', { temperature: 3 }, /params\.temperature: /],
  ['openai', 'some-new-name', { temperature: 0, reasoningEffort: 'low' }, null],
  ['anthropic', 'claude-sonnet-4-5', { temperature: 0 }, null],
  ['anthropic', 'claude-sonnet-4-5', { temperature: 1.5 }, /params\.temperature: /],
  ['anthropic', 'claude-sonnet-4-5', { seed: 1 }, /unknown parameter "seed"; possible: temperature/],
  [
    'anthropic',
    'claude-sonnet-4-5',
    { temperature: 0, thinking: { type: 'enabled', budgetTokens: 2048 }, maxOutputTokens: 4096 },
    /temperature 0: not while it thinks/,
  ],
  [
    'anthropic',
    'claude-sonnet-4-5',
    { thinking: { type: 'enabled', budgetTokens: 4096 }, maxOutputTokens: 4096 },
    /thinks within its cap: maxOutputTokens 4096 must be above 4096/,
  ],
  ['anthropic', 'claude-sonnet-4-5', { thinking: { type: 'adaptive' } }, /possible: \{ type: enabled/],
  ['anthropic', 'claude-sonnet-4-5-20250929', { reasoningEffort: 'low' }, /has no effort/],
  ['anthropic', 'claude-opus-4-5', { reasoningEffort: 'max' }, /possible: low, medium, high/],
  ['anthropic', 'claude-opus-4-6', { thinking: { type: 'adaptive' }, reasoningEffort: 'max' }, null],
  ['anthropic', 'claude-opus-4-7', { temperature: 0 }, /draws as it likes/],
  ['anthropic', 'claude-opus-5', { temperature: 1 }, null],
  ['anthropic', 'claude-opus-4-6', { temperature: 1, thinking: { type: 'adaptive' } }, null],
  [
    'anthropic',
    'claude-opus-4-6',
    { topK: 1, thinking: { type: 'adaptive' } },
    /topK 1: not while it thinks/,
  ],
  ['anthropic', 'claude-sonnet-5', { thinking: { type: 'enabled', budgetTokens: 1024 } }, /takes no budget/],
  ['anthropic', 'claude-opus-5-5', { thinking: { type: 'disabled' } }, /always thinks/],
  ['anthropic', 'claude-haiku-5-5', { thinking: { type: 'disabled' }, reasoningEffort: 'low' }, null],
  ['google', 'gemini-2.5-flash', { temperature: 0, seed: 3, thinkingBudget: 0 }, null],
  ['google', 'gemini-2.5-pro', { thinkingBudget: 0 }, /possible: 128 to 32768, or -1/],
  ['google', 'gemini-2.5-pro', { thinkingBudget: -1 }, null],
  ['google', 'gemini-2.5-flash', { presencePenalty: 1 }, /no penalties/],
  ['google', 'gemini-2.5-flash', { reasoningEffort: 'low' }, /use thinkingBudget/],
  ['google', 'gemini-3.5-flash', { reasoningEffort: 'minimal' }, null],
  ['google', 'gemma-4-31b-it', { includeThoughts: true }, null],
  ['google', 'gemini-2.0-flash', { thinkingBudget: 5 }, /does not think/],
  [
    'google',
    'gemini-2.5-flash',
    { extraBody: { contents: [] } },
    /cannot be set here: they come from the case/,
  ],
];

describe('parameters that a model cannot take', () => {
  test.each(ROWS)('AC-P8 %s %s %j', (...[kind, model, params, problem]) => {
    const problems = checkParams({ kind, model, params });
    expect(problems).toHaveLength(problem === null ? 0 : 1);
    expect(problems.join('\n')).toMatch(problem ?? /^$/);
  });
});
