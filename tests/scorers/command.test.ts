import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { EnvironmentSession } from '../../src/environments/environment.ts';
import { commandScorer } from '../../src/scorers/command.ts';
import { runScorer } from '../../src/scorers/guard.ts';
import { isRunning, openSession, run } from '../environments/test-session.ts';
import { buildCase } from './support.ts';

const BLOBS: { readonly [digest: string]: string } = {
  d1: 'grep -q 42 answer.txt\n',
  d3: '#!/bin/sh\ntest -f answer.txt\n',
  d2: 'tr -d "\\n" < "$ASSAY_ANSWER" | grep -qx yes\n',
};

const grade = (
  session: EnvironmentSession | null,
  given: JsonObject,
  more: { readonly answer?: string; readonly threshold?: number; readonly signal?: AbortSignal } = {},
) =>
  runScorer(commandScorer, {
    options: commandScorer.options.parse(given),
    threshold: more.threshold ?? 1,
    testCase: buildCase({ id: 'c', input: { kind: 'text', text: '' } }),
    target: null,
    answer: more.answer ?? '',
    session,
    loadBlob: (digest) => Promise.resolve(Buffer.from(BLOBS[digest] ?? '')),
    signal: more.signal ?? new AbortController().signal,
  });

test('exit code 0 scores 1 and any other 0', async () => {
  const session = await openSession();
  await session.writeFile('answer.txt', Buffer.from('42'));
  const files = { 'check.sh': 'd1' };
  expect(await grade(session, { command: 'sh "$ASSAY_GRADER/check.sh"', files })).toMatchObject({
    kind: 'scored',
    value: 1,
    pass: true,
  });
  await session.writeFile('answer.txt', Buffer.from('41'));
  expect(await grade(session, { command: 'sh "$ASSAY_GRADER/check.sh"', files })).toMatchObject({
    kind: 'scored',
    value: 0,
    pass: false,
    metrics: { exitCode: 1 },
  });
});

test('a file of the grader may be executed', async () => {
  const session = await openSession();
  const given = { command: '"$ASSAY_GRADER/check"', files: { check: 'd3' } };
  expect(await grade(session, given)).toMatchObject({ kind: 'scored', value: 0 });
  await session.writeFile('answer.txt', Buffer.from(''));
  expect(await grade(session, given)).toMatchObject({ kind: 'scored', value: 1 });
});

test('the answer is a file and an argument list needs no shell', async () => {
  const session = await openSession();
  const given = { command: 'sh "$ASSAY_GRADER/deep/check.sh"', files: { 'deep/check.sh': 'd2' } };
  expect(await grade(session, given, { answer: 'yes' })).toMatchObject({ value: 1 });
  expect(await grade(session, given, { answer: 'no' })).toMatchObject({ value: 0 });
  expect(await grade(session, { command: ['test', '-d', '.'] })).toMatchObject({ value: 1 });
});

test('C15 output that claims to have passed decides nothing and is kept', async () => {
  const session = await openSession();
  const verdict = await grade(session, { command: 'echo PASSED test_x; echo "100% passed"; exit 1' });
  expect(verdict).toMatchObject({ kind: 'scored', value: 0, pass: false });
  expect(verdict.explanation).toMatch(/^exit code 1 after 0\.\d s; output:\nPASSED test_x\n100% passed$/);
});

test('C15 a file that the agent left is not taken for the report', async () => {
  const session = await openSession();
  await session.writeFile('report.json', Buffer.from('{"score": 1}'));
  expect(await grade(session, { command: 'true', report: 'report.json' })).toMatchObject({
    kind: 'unscored',
    code: 'scorer_failed',
    explanation: /report report\.json was not written/,
  });
});

test('a report decides instead of the exit code', async () => {
  const session = await openSession();
  const command = `echo '{"score": 0.5, "explanation": "2 of 4", "more": []}' > "$ASSAY_GRADER/r.json"; exit 1`;
  const given = { command, report: 'r.json' };
  expect(await grade(session, given)).toMatchObject({ value: 0.5, pass: false, explanation: '2 of 4' });
  expect(await grade(session, given, { threshold: 0.5 })).toMatchObject({ value: 0.5, pass: true });
});

test('the report of one scorer is not seen by the next', async () => {
  const session = await openSession();
  const report = 'r.json';
  await grade(session, { command: `echo '{"score": 1}' > "$ASSAY_GRADER/r.json"`, report });
  expect(await grade(session, { command: 'true', report })).toMatchObject({ kind: 'unscored' });
});

test.each([
  ['no JSON', 'PASSED', /is not JSON: "PASSED"/],
  ['not a number', '{"score": NaN}', /is not JSON/],
  ['too much', '{"score": 1.5}', /outside its contract, score: /],
  ['too little', '{"score": -1}', /outside its contract, score: /],
  ['text', '{"score": "1"}', /outside its contract, score: /],
  ['without a score', '{"pass": true}', /outside its contract, score: /],
  ['a list', '[1]', /outside its contract, report: /],
  ['at odds with itself', '{"score": 0.2, "pass": true}', /says pass: true at score 0\.2, but the threshold/],
])('AC-E6 a report that is %s gives no score', async (_name, text, explanation) => {
  const session = await openSession();
  const command = `cat > "$ASSAY_GRADER/r.json" <<'END'\n${text}\nEND`;
  expect(await grade(session, { command, report: 'r.json' })).toMatchObject({
    kind: 'unscored',
    code: 'scorer_failed',
    explanation,
  });
});

test('F24 AC-E3 a grader that runs too long gives no score and leaves no process', async () => {
  const session = await openSession();
  const verdict = await grade(session, { command: 'echo $$; sleep 1000', timeout: '300ms' });
  expect(verdict).toMatchObject({ kind: 'unscored', code: 'scorer_time_out' });
  expect(verdict.explanation).toMatch(/in phase evaluate: limit 0\.3 s, measured 0\.\d s/);
  expect(await isRunning(Number(/output:\n(\d+)/.exec(verdict.explanation)?.[1]))).toBe(false);
});

test.each([
  ['is missing', 'no-such-program', /was not found \(exit code 127\)/],
  ['is missing without a shell', ['no-such-program'], /could not be started: .*ENOENT/],
  ['may not be executed', 'touch f; ./f', /could not be executed \(exit code 126\)/],
  ['is killed', 'kill -9 $$', /ended by SIGKILL/],
])('a grader that %s gives no score', async (_name, command, explanation) => {
  const session = await openSession();
  expect(await grade(session, { command })).toMatchObject({
    kind: 'unscored',
    code: 'scorer_failed',
    explanation,
  });
});

test('without a session there is no score', async () => {
  expect(await grade(null, { command: 'true' })).toMatchObject({ kind: 'unscored', code: 'no_session' });
});

test('AC-S3 a grader sees none of the variables of the worker', async () => {
  process.env['ASSAY_TEST_CANARY'] = 'canary-4711';
  const session = await openSession();
  const verdict = await grade(session, { command: 'env; exit 1' });
  delete process.env['ASSAY_TEST_CANARY'];
  expect(verdict.explanation).toContain('ASSAY_ANSWER=');
  expect(verdict.explanation).not.toContain('canary');
});

test('the files of a grader are not in the working directory', async () => {
  const session = await openSession();
  await grade(session, { command: 'true', files: { 'check.sh': 'd1' } });
  expect((await run(session, 'ls -A')).output).toBe('');
});

test('a long output is cut to its end', async () => {
  const session = await openSession();
  const verdict = await grade(session, { command: 'seq 1 5000; exit 2' });
  expect(verdict.explanation).toMatch(/^exit code 2 after .*; output ends with:\n[\d\n]+\n5000$/);
});

test('an abort is no verdict', async () => {
  const session = await openSession();
  const abort = new AbortController();
  const grading = grade(session, { command: 'sleep 1000' }, { signal: abort.signal });
  setTimeout(() => abort.abort(new Error('cancelled by test')), 200);
  await expect(grading).rejects.toThrow('cancelled by test');
});

test('options say what is wrong with a time-out', () => {
  expect(commandScorer.options.safeParse({ command: 'x', timeout: '5 minutes' }).success).toBe(false);
  expect(commandScorer.options.safeParse({ command: 'x', timeout: '0s' }).success).toBe(false);
  expect(commandScorer.options.safeParse({ command: [], timeout: '5m' }).success).toBe(false);
  const checked = commandScorer.options.parse({ command: 'x', timeout: '1.5m' });
  expect(commandScorer.options.parse(checked)).toEqual({ command: 'x', timeout: 90_000, files: {} });
});
