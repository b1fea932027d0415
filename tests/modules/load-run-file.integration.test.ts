import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { findModuleProblems, loadModule, loadProject, makeProject, runWith, SUITE } from './project.ts';

vi.setConfig({ testTimeout: 60_000 });

test('problems of a run file in TypeScript name the field, and its line where that is sure', async () => {
  const run = runWith(`suite: { scorers: ['exakt'], cases: [{ id: 'one', input: 'Say 1.', target: '1' }] },
  attempts: { k: 0 },
  execution: { taskConcurrencie: 4 } as never,`);
  expect(await findModuleProblems({ 'run.ts': run })).toEqual([
    'run.ts:5 suite.scorers[0]: unknown scorer "exakt"; available: exact, includes, regex, choice, numeric, json, similarity, command, javascript, trajectory, latency, cost, judge',
    'run.ts:6 attempts.k: expected at least 1, got number 0',
    expect.stringMatching(/^run\.ts:7 execution\.taskConcurrencie: unknown key "taskConcurrencie"; known/),
  ]);
});

test('what JSON cannot hold is a problem at its place', async () => {
  const run = runWith(
    `${SUITE} context: { now: new Date(0), later: Promise.resolve(1), run: () => 1, big: 1n, share: 0 / 0 } as never,`,
  );
  expect(await findModuleProblems({ 'run.ts': run })).toEqual([
    'run.ts:5 context.now: expected plain data, got a Date',
    'run.ts:5 context.later: expected plain data, got a promise: write "await" before it',
    'run.ts:5 context.run: a function cannot stand here: code belongs into defineTool or defineScorer',
    'run.ts:5 context.big: expected plain data, got a bigint',
    'run.ts:5 context.share: expected a finite number, got NaN',
  ]);
});

test('imports that lead nowhere are all told before anything is run, with file, line and what to do', async () => {
  const files = {
    'run.ts': runWith(SUITE, `import './cases.ts';\nimport pad from 'left-pad';\nconsole.log(pad);`),
    'cases.ts': `import { readFile } from 'node:fs/promises';\nimport '@scope/gone/deep';\nvoid readFile;\nthrow new Error('must not run');`,
  };
  expect(await findModuleProblems(files)).toEqual([
    'cases.ts:2: the package "@scope/gone" is not installed for this file (looked for from PROJECT): run "npm install @scope/gone" there, or remove the import',
    'run.ts:3: the package "left-pad" is not installed for this file (looked for from PROJECT): run "npm install left-pad" there, or remove the import',
  ]);
  expect(
    await findModuleProblems({ 'run.ts': `import './gone.ts';\nimport x from './also-gone.ts';\nx();` }),
  ).toEqual([
    'run.ts:1: the import "./gone.ts" leads to no file: correct the path, or write the file',
    'run.ts:2: the import "./also-gone.ts" leads to no file: correct the path, or write the file',
  ]);
  expect(await findModuleProblems({ 'run.ts': 'export default {\n  models: [,\n' })).toEqual([
    'run.ts:3: Unexpected end of file',
  ]);
});

test.each([
  [
    'throws',
    `const no = (): never => { throw new TypeError('no such table'); };\nno();`,
    'it cannot be loaded: TypeError: no such table (at run.ts:2:33)',
  ],
  [
    'rejects',
    `void Promise.reject(new Error('lost'));\nawait new Promise(() => setTimeout(() => 0, 1e6));`,
    'it cannot be loaded: lost (at run.ts:2:21)',
  ],
  [
    'exits',
    `process.exit(3);`,
    'it cannot be loaded: its process ended while it was being loaded: its process exited with code 3',
  ],
  [
    'hangs',
    `for (;;);`,
    'it cannot be loaded: loading it took longer than 2 s: move slow work out of its top level',
  ],
  [
    'waits',
    `await new Promise(() => setInterval(() => 0, 1000));`,
    'it cannot be loaded: loading it took longer than 2 s: move slow work out of its top level',
  ],
])('a module that %s while it is loaded is a problem of its own', async (what, body, expected) => {
  const [problem = ''] = await findModuleProblems(
    { 'run.ts': runWith(SUITE, body) },
    what === 'hangs' || what === 'waits' ? { loadTimeoutMs: 2_000 } : {},
  );
  expect(problem.replace(/^run\.ts(:\d+)?: /, '')).toContain(expected);
});

test('a module that eats memory while it is loaded is told so', async () => {
  const body = `const all: unknown[] = [];\nfor (;;) all.push(new Array(100_000).fill(all.length));`;
  expect(await findModuleProblems({ 'run.ts': runWith(SUITE, body) })).toEqual([
    expect.stringContaining('it used more memory than its limit of 512 MiB and was ended'),
  ]);
});

test('a file without defineRun says what to write', async () => {
  expect(await findModuleProblems({ 'run.ts': 'export const run = {};' })).toEqual([
    'run.ts: it has no default export: write export default defineRun({ ... })',
  ]);
  expect(await findModuleProblems({ 'run.ts': `export default { models: [] };` })).toEqual([
    'run.ts: its default export is something else: write export default defineRun({ ... })',
  ]);
});

test('a run file that is not there is told like any other file', async () => {
  expect(await findModuleProblems({ 'rum.ts': '' })).toEqual(['run.ts: the file "run.ts" does not exist']);
});

test('a literal key in a run file is refused and not shown', async () => {
  const key = 'sk-0123456789abcdefghij';
  const run = runWith(`${SUITE} context: { apiKey: '${key}' },`);
  const problems = await findModuleProblems({ 'run.ts': run });
  expect(problems).toEqual([expect.stringContaining('may not hold a literal key')]);
  expect(problems.join()).not.toContain(key);
});

test('the digest is that of the sources, wherever they lie, and the bundle names no folder', async () => {
  const files = {
    'run.ts': runWith(SUITE, `import { two } from './lib/two.ts';\nexport const both = two;`),
    'lib/two.ts': 'export const two = 2;\n',
  };
  const [first, second] = [await loadModule(files), await loadModule(files)];
  expect(second.folder).not.toBe(first.folder);
  expect(second.module.digest).toBe(first.module.digest);
  const code = Buffer.from(first.code).toString('utf8');
  const map = /sourceMappingURL=data:application\/json;base64,(.*)/.exec(code)?.[1] ?? '';
  expect(code + Buffer.from(map, 'base64').toString('utf8')).not.toContain(first.folder);
  writeFileSync(join(second.folder, 'lib/two.ts'), 'export const two = 3;\n');
  const edited = (await loadProject(second.folder)).spec.module;
  expect(edited?.digest).not.toBe(first.module.digest);
});

const TOOL = `description: 'Does it.', parameters: z.strictObject({}), execute: () => 'done'`;

test('tools and scorers are checked like the rest of the file', async () => {
  const body = `
    const bad = defineTool({ name: 'no spaces', description: '', parameters: z.date() as never, execute: 1 as never });
    const bash = defineTool({ name: 'bash', ${TOOL} });
    const twice = defineTool({ name: 'once', ${TOOL}, maxAttempts: 2, timeout: '1 s' as never });
    export const again = defineTool({ name: 'once', ${TOOL} });
    export const exact = defineScorer({ name: 'exact', score: () => 1 });`;
  const run = runWith(`${SUITE} harness: { kind: 'agent', tools: [bad, bash, twice] },`, body);
  const problems = await findModuleProblems({ 'run.ts': run });
  expect(problems.map((line) => line.replace(/^run\.ts(:\d+)? /, ''))).toEqual([
    'again.name: two tools are called "once": give one of them another name',
    'exact.name: "exact" is the name of a built-in scorer: give it another',
    'environment: no spaces, bash needs an environment to act in: add environment: { kind: host }, or name tools of this file alone',
    'harness.tools[1].name: "bash" is the name of a built-in tool: give it another',
    expect.stringMatching(/^harness\.tools\[0\]\.name: expected a name of 1 to 64 letters/),
    'harness.tools[0].description: expected a text that is not empty, got text ""',
    expect.stringMatching(/^harness\.tools\[0\]\.parameters: expected a zod object, .*Date cannot be/),
    'harness.tools[0].execute: expected a function, got number 1',
    expect.stringMatching(/^harness\.tools\[2\]\.timeout: expected a duration such as .*, got text "1 s"/),
    'harness.tools[2].maxAttempts: a call of a tool that is not idempotent is made once: remove "maxAttempts", or say idempotent: true',
    expect.stringContaining('harness.tools[0]: unknown tool "no spaces"'),
  ]);
});

test('options of a scorer are checked by its own schema before anything starts', async () => {
  const body = `const near = defineScorer({ name: 'near', needsTarget: true, options: z.strictObject({ by: z.number().min(1) }), score: () => 1 });`;
  const run = runWith(
    `suite: { scorers: [{ kind: near, by: 0, than: 2 }], cases: [{ id: 'one', input: 'Say 1.' }] },`,
    body,
  );
  const problems = await findModuleProblems({ 'run.ts': run });
  expect(problems.join('\n')).toMatch(/suite\.scorers\[0\]\.by: .*1/);
  expect(problems.join('\n')).toMatch(/suite\.scorers\[0\]\.than: unknown key "than"/);
});

test('a scorer that the module exports is known to suites in files', async () => {
  const folder = makeProject({
    'run.ts': runWith(
      `suite: './s.suite.yaml',`,
      `export const mine = defineScorer({ name: 'mine', score: () => 1 });`,
    ),
    's.suite.yaml': 'scorers: [mine]\ncases: [{ id: one, input: Say 1. }]\n',
  });
  const { suites } = await loadProject(folder);
  expect([...suites.values()][0]?.scorers).toMatchObject([{ kind: 'mine', name: 'mine', options: {} }]);
});

test('assay.config.ts gives defaults to every run file of its project, and the file wins', async () => {
  const folder = makeProject({
    'assay.config.ts': `import { defineConfig } from 'assay';
      const tenant: string = 'acme';
      export default defineConfig({
        providers: [{ id: 'local', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' }],
        budgets: { maxRunUsd: 5, allowUnpriced: true }, execution: { taskConcurrency: 7 }, context: { tenant } });`,
    'deep/run.yaml': `models: [{ id: a, provider: local, model: m, params: { maxOutputTokens: 9 } }]
budgets: { maxRunUsd: 1 }
context: { round: 2 }
suite: { scorers: [exact], cases: [{ id: one, input: Say 1., target: 1 }] }
`,
  });
  const { spec } = await loadProject(folder, { path: 'deep/run.yaml' });
  expect(spec).toMatchObject({
    budgets: { maxRunUsd: 1, allowUnpriced: true },
    execution: { taskConcurrency: 7 },
    context: { tenant: 'acme', round: 2 },
    providers: [{ id: 'local' }],
  });
  expect(
    await findModuleProblems({
      'assay.config.ts': `import { defineConfig } from 'assay';\nexport default defineConfig({ budget: {} } as never);`,
      'run.ts': runWith(SUITE),
    }),
  ).toEqual([
    expect.stringMatching(/assay\.config\.ts:2 budget: unknown key "budget"; known here: providers/),
  ]);
});
