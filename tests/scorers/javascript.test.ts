import { onTestFinished, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { createCodeRunner } from '../../src/modules/code-scorer.ts';
import { ModulePool } from '../../src/modules/module-pool.ts';
import { runScorer } from '../../src/scorers/guard.ts';
import { javascript } from '../../src/scorers/javascript.ts';
import { buildInput } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

function openJudge() {
  const pool = new ModulePool({
    loadCode: () => Promise.reject(new Error('there is no blob')),
    projectDir: null,
    onOutput: () => undefined,
  });
  onTestFinished(() => pool.stop());
  const about = { scorerName: 'own', modelId: 'm', context: { tenant: 'acme' }, transcript: [] };
  return (options: JsonObject, answer = 'forty-two') =>
    runScorer(
      javascript,
      {
        ...buildInput({ answer, target: '42', threshold: 0.5 }, javascript.options.parse(options)),
        about,
        runCode: createCodeRunner(pool, null),
      },
      { name: 'own', timeoutMs: null },
    );
}

test('an expression judges: a number, yes or no, a value with its reasons, or no judgement', async () => {
  const judge = openJudge();
  const expression = `await ({
    number: answer.length / 10,
    no: answer === target,
    rich: { value: 1, explanation: \`${'${context.tenant} ${modelId} ${testCase.id}'}\` },
    none: null,
    later: Promise.resolve(targets.length),
    text: 'good',
    '\`); process.exit(0); //': 0.25,
  })[answer] // what the answer asks for`;
  const at = (answer: string) => judge({ expression }, answer);
  expect(await at('number')).toMatchObject({ value: 0.6, pass: true });
  expect(await at('no')).toMatchObject({ value: 0, pass: false });
  expect(await at('rich')).toMatchObject({ value: 1, explanation: 'acme m case-1' });
  expect(await at('none')).toMatchObject({ kind: 'unscored', code: 'abstained' });
  expect(await at('later')).toMatchObject({ value: 1 });
  expect(await at('text')).toMatchObject({ kind: 'unscored', code: 'contract' });
  // The answer cannot become code.
  expect(await at('`); process.exit(0); //')).toMatchObject({ value: 0.25 });
});

test('a module with types and imports of Node.js judges as well', async () => {
  const judge = openJudge();
  const code = `import { createHash } from 'node:crypto';
    type Given = { readonly answer: string };
    export default function judge({ answer }: Given): boolean {
      return createHash('sha256').update(answer).digest('hex').length === 64;
    }`;
  expect(await judge({ code, file: 'grade.ts' })).toMatchObject({ kind: 'scored', value: 1 });
});

test('code that hangs, throws, exits, gives nonsense or cannot be read leaves its attempt unscored', async () => {
  const judge = openJudge();
  const ends = await Promise.all([
    judge({ code: 'export default () => { while (true); }', timeout: '300ms' }),
    judge({ expression: 'answer.nothing.at.all' }),
    judge({ expression: 'process.exit(3)' }),
    judge({ code: 'export default (' }),
    judge({ code: "import 'no-such-package'; export default () => 1" }),
  ]);
  expect(ends.map((end) => (end.kind === 'unscored' ? end.code : end))).toEqual([
    'time_out',
    'scorer_failed',
    'scorer_failed',
    'bad_code',
    'scorer_failed',
  ]);
  expect(ends[0]?.explanation).toContain('gave no verdict in 0.3 s');
  expect(ends[1]?.explanation).toMatch(/TypeError.*expression\.js/);
  expect(ends[4]?.explanation).toContain('no-such-package');
});

test('a text that is no expression, and more or less than one source, are refused with the suite', () => {
  const problems = (options: JsonObject) =>
    javascript.options.safeParse(options).error?.issues.map(({ message }) => message);
  expect(problems({ expression: 'answer ===' })?.[0]).toContain('is no JavaScript expression: ');
  expect(problems({ expression: 'return true' })?.[0]).toContain('is no JavaScript expression: ');
  expect(problems({})).toEqual(['expected one of "expression", "file" and "code"']);
  expect(problems({ expression: '1', code: 'export default () => 1' })).toHaveLength(1);
});
