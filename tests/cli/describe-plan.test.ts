import { expect, test } from 'vitest';
import { describePlan } from '../../src/cli/describe-plan.ts';
import { estimateRun } from '../../src/domain/estimate.ts';
import { listKeyNames } from '../../src/domain/key-names.ts';
import { load } from '../support/load.ts';

test('a plan says which prices come from the table, from which text and whose', async () => {
  const loaded = await load({
    models: [
      'anthropic:claude-haiku-4-5-20251001',
      'google:gemini-3.5-flash',
      'mock:oracle',
      { id: 'own', provider: 'openai', model: 'gpt-5', price: { input: 1, output: 2 } },
    ],
    suite: { name: 's', scorers: ['includes'], cases: [{ id: 'a', input: 'q', target: 't' }] },
  });
  const { text, document } = describePlan({ loaded, estimate: estimateRun(loaded.spec, loaded.suites) });
  expect(text).toMatch(
    /^Prices of 2026-10-07 or later from https:\/\/platform\.claude\.com\S+: anthropic:claude-haiku-4-5-20251001 \(as claude-haiku-4-5\)$/m,
  );
  expect(text).toMatch(
    /^Prices of 2026-10-07 or later from https:\/\/github\.com\S+ \(a third party\): google:gemini-3\.5-flash$/m,
  );
  expect(text).not.toContain('developers.openai.com');
  expect(document).toMatchObject({
    prices: [
      { card: { priced: true, vendor: true } },
      { card: { priced: true, vendor: false } },
      { card: null },
      { price: { input: 1 }, card: { priced: false } },
    ],
  });
});

test('a plan says what to do about a model without a price, and when no key is set', async () => {
  const loaded = await load({
    models: [{ id: 'small', provider: 'own', model: 'x' }],
    providers: [
      {
        id: 'own',
        kind: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:9/v1',
        apiKeyEnv: 'ASSAY_TEST_UNSET',
      },
    ],
    suite: { name: 's', scorers: ['includes'], cases: [{ id: 'a', input: 'q', target: 't' }] },
  });
  const { text } = describePlan({ loaded, estimate: estimateRun(loaded.spec, loaded.suites) });
  expect(text).toContain('Without a price: small (check the name, or give the model a "price")');
  expect(text).toContain('No model could be run: set these variables first');
});

test('a plan names the judges, counts their questions, and says when one could not be asked', async () => {
  const loaded = await load({
    models: ['mock:oracle'],
    providers: [
      {
        id: 'own',
        kind: 'openai-compatible',
        baseUrl: 'http://127.0.0.1:9/v1',
        apiKeyEnv: 'ASSAY_TEST_UNSET',
      },
    ],
    judge: { model: 'own:wise', params: { maxOutputTokens: 100 }, price: { input: 0, output: 1000 } },
    suite: {
      name: 's',
      scorers: [{ kind: 'judge', rubric: 'Be just.' }],
      cases: ['a', 'b'].map((id) => ({ id, input: 'q' })),
    },
    attempts: { k: 3 },
  });
  const estimate = estimateRun(loaded.spec, loaded.suites);
  // Six answers, and a question to the judge about each: 100 tokens at 0.001 USD.
  expect(estimate).toMatchObject({ modelCalls: 12, costUsd: expect.closeTo(0.6, 9) as number });
  const { text } = describePlan({ loaded, estimate });
  expect(text).toContain('Judges: own:wise; their questions are counted with each model.');
  expect(text).toContain('Judge own:wise could not be asked: the variable ASSAY_TEST_UNSET is not set');
  expect(listKeyNames(loaded.spec)).toEqual(['ASSAY_TEST_UNSET']);
});
